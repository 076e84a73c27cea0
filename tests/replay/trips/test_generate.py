"""Made-up trips tables: the same rows whatever made them, and like the real ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
from pyarrow import parquet as pq

from replay.errors import DataError
from replay.trips.check import _figure, check_made_up
from replay.trips.city import load_city
from replay.trips.generate import _Slice, _write_slice, generate
from replay.trips.layouts import LAYOUTS
from replay.trips.lines import read_block
from replay.trips.rates import HOURS
from replay.trips.settings import Settings
from replay.trips.table import SCHEMA, finish, part_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DATA = Path(__file__).resolve().parents[3] / "data" / "debs2015"
DAY = 15_719
SMALL = Settings(seed=3, rows_per_day=5_000)


def quiet(_: str) -> None:
    pass


def rows_of(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(file, partitioning=None) for file in part_files(folder))


@pytest.fixture(scope="module")
def two_days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "two-days"
    generate(spark, SMALL, range(DAY, DAY + 2), folder, quiet, as_csv=True, slices=1)
    return folder


def test_rows_do_not_depend_on_how_the_work_is_cut(
    spark: SparkSession, two_days: Path, tmp_path: Path
) -> None:
    """One task per day or five, and the second day alone but for its numbers."""
    generate(spark, SMALL, range(DAY, DAY + 2), tmp_path / "five", quiet, slices=5)
    by_day = generate(spark, SMALL, range(DAY + 1, DAY + 2), tmp_path / "second", quiet)

    whole = rows_of(two_days)
    assert rows_of(tmp_path / "five").equals(whole)
    rows = by_day["2013-01-15"]
    assert rows_of(tmp_path / "second").drop("n").equals(whole.slice(whole.num_rows - rows).drop("n"))


def test_a_made_up_table_keeps_the_contract(two_days: Path) -> None:
    """Types, dense numbers in the order of the drop-offs, days by drop-off, a summary that adds up."""
    rows = rows_of(two_days)
    summary = json.loads((two_days / "summary.json").read_text())

    assert rows.schema.equals(SCHEMA)
    assert rows["n"].to_pylist() == list(range(1, rows.num_rows + 1))
    dropoff = rows["dropoff_s"].to_numpy()
    assert (dropoff[1:] >= dropoff[:-1]).all()
    for file in part_files(two_days):
        times = pq.read_table(file, partitioning=None)["dropoff_s"].cast(pa.timestamp("s")).to_pylist()
        assert {f"day={time:%Y-%m-%d}" for time in times} == {file.parent.name}
    assert (two_days / "_SUCCESS").exists()
    assert (summary["kind"], summary["rows"]) == ("trips", rows.num_rows)
    assert sum(summary["days"].values()) == rows.num_rows


def test_its_csv_has_the_same_rows_as_the_challenge_writes_them(two_days: Path) -> None:
    files = sorted((two_days / "csv").iterdir())
    data = b"".join(gzip.decompress(file.read_bytes()) for file in files)
    block = read_block(data, LAYOUTS["challenge"], first=True)

    assert [file.name for file in files] == ["2013-01-14.csv.gz", "2013-01-15.csv.gz"]
    assert not block.rejects
    assert block.trips.cast(SCHEMA.remove(0)).equals(rows_of(two_days).drop("n"))
    fields = data.split(b"\n", 1)[0].decode().split(",")
    assert [len(text.partition(".")[2]) for text in fields[5:10]] == [2, 6, 6, 6, 6]
    assert [len(text.partition(".")[2]) for text in fields[11:]] == [2] * 6


def test_rows_are_like_the_real_ones(spark: SparkSession, tmp_path: Path) -> None:
    """Every statistic lies within its tolerance, for a Monday's busiest hours at the year's rate."""
    settings = Settings(seed=1)
    hours = (DAY * HOURS + 14, DAY * HOURS + 21)
    rows = _write_slice(settings, load_city(), tmp_path, _Slice(DAY, hours, 0))
    finish(tmp_path, {"rows": rows})

    figures = check_made_up(spark, tmp_path, DATA)

    assert len(figures) > 70
    assert [figure for figure in figures if figure.verdict != "ok"] == []


def test_a_figure_beyond_its_tolerance_is_off_unless_the_rates_differ() -> None:
    name, by_rate = "pick-up cells, top 10, %", "output rows per 5 min"

    assert _figure(name, 11.4, 10.0, same_rate=True).verdict == "ok"
    assert _figure(name, 11.6, 10.0, same_rate=False).verdict == "off"
    assert _figure(by_rate, 41.0, 20.0, same_rate=True).verdict == "off"
    assert _figure(by_rate, 41.0, 20.0, same_rate=False).verdict == "not compared"


def test_too_few_rows_to_compare_are_refused(spark: SparkSession, two_days: Path) -> None:
    with pytest.raises(DataError, match="rows are too few to compare with 46,450 real ones"):
        check_made_up(spark, two_days, DATA)


def test_settings_out_of_range_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="rows per day: at most 5,000,000"):
        generate(spark, Settings(0, 5_000_001), range(DAY, DAY + 1), tmp_path / "out", quiet)
    with pytest.raises(DataError, match="start 1969-12-31: the first day must not lie before 1970-01-01"):
        generate(spark, SMALL, range(-1, 1), tmp_path / "out", quiet)
    assert not (tmp_path / "out").exists()
