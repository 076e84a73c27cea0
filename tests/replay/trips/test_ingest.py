"""Files to a trips table, by any number of tasks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
from pyarrow import parquet as pq

from replay.errors import DataError
from replay.trips.clean import clean
from replay.trips.ingest import ingest
from replay.trips.layouts import LAYOUTS
from replay.trips.table import SCHEMA, part_files, read_trips

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DATA = Path(__file__).resolve().parents[3] / "data" / "debs2015"
LINE = (
    "M{n},L,2013-01-{day:02d} 00:00:00,2013-01-{day:02d} 00:01:00,60,0.44,-73.956528,40.716976,-73.962440,"
    "40.715008,CSH,3.50,0.50,0.50,0.00,0.00,4.50"
)


def quiet(_: str) -> None:
    pass


def rows_of(folder: Path) -> list[dict[str, object]]:
    rows = pa.concat_tables(pq.read_table(file, partitioning=None) for file in part_files(folder))
    assert rows.schema.equals(SCHEMA)
    found: list[dict[str, object]] = rows.sort_by("n").to_pylist()
    return found


def test_relative_paths_are_the_drivers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks work elsewhere, as those of a cluster do; rejects name the file as the user did."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(LINE.format(n=1, day=1) + "\ntorn\n")

    ingest(spark, [Path("rows.csv")], Path("taken"), quiet)
    clean(spark, Path("taken"), Path("cleaned"), quiet)

    assert [row["medallion"] for row in rows_of(tmp_path / "cleaned")] == ["M1"]
    assert pq.read_table(tmp_path / "taken" / "rejects")["file"].to_pylist() == ["rows.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cleaned", "rows.csv", "taken"]


def test_lines_keep_their_order_and_numbers_however_they_are_cut(spark: SparkSession, tmp_path: Path) -> None:
    """Two files of many blocks each, with days out of order and every seventh line unreadable."""
    lines = [LINE.format(n=n, day=1 + n % 3) if n % 7 else f"broken {n}" for n in range(400)]
    plain, packed = tmp_path / "plain.csv", tmp_path / "packed.csv.gz"
    plain.write_text("\n".join(lines[:250]))
    packed.write_bytes(gzip.compress("\n".join(lines[250:]).encode()))

    summaries = ingest(spark, [plain, packed], tmp_path / "out", quiet, block_bytes=4_000)

    rows = rows_of(tmp_path / "out")
    assert [row["n"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["medallion"] for row in rows] == [f"M{n}" for n in range(400) if n % 7]
    rejects = pq.read_table(tmp_path / "out" / "rejects").sort_by(
        [("file", "descending"), ("line", "ascending")]
    )
    expected = [(str(plain), n + 1, f"broken {n}") for n in range(0, 250, 7)]
    expected += [(str(packed), n - 249, f"broken {n}") for n in range(252, 400, 7)]
    assert [(row["file"], row["line"], row["text"]) for row in rejects.to_pylist()] == expected
    assert set(rejects["reason"].to_pylist()) == {"columns"}
    for one in summaries:
        assert one.lines == one.rows + sum(one.rejected.values()) + sum(one.skipped.values())
    assert [one.rejected for one in summaries] == [{"columns": 36}, {"columns": 22}]


def test_a_table_keeps_the_contract_for_spark_too(spark: SparkSession, tmp_path: Path) -> None:
    """Days by drop-off, files and rows of a day in the order of n, a summary that adds up, rejects apart."""
    source = tmp_path / "rows.csv"
    source.write_text("\n".join(LINE.format(n=n, day=1 + n % 2) for n in range(50)))

    ingest(spark, [source], tmp_path / "out", quiet, block_bytes=1_000)

    table = read_trips(spark, tmp_path / "out")
    assert table.columns == [*SCHEMA.names, "day"]
    assert table.count() == 50
    assert {str(row["day"]) for row in table.select("day").distinct().collect()} == {
        "2013-01-01",
        "2013-01-02",
    }
    for day in (1, 2):
        files = [file for file in part_files(tmp_path / "out") if f"2013-01-0{day}" in str(file)]
        numbers = [n for file in files for n in pq.read_table(file, partitioning=None)["n"].to_pylist()]
        assert numbers == list(range(day, 51, 2))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["kind"], summary["rows"], summary["rejected"]) == ("trips", 50, {})
    assert summary["days"] == {"2013-01-01": 25, "2013-01-02": 25}
    assert pq.read_table(tmp_path / "out" / "rejects").num_rows == 0


def test_files_of_all_layouts_go_into_one_table(spark: SparkSession, tmp_path: Path) -> None:
    """Each by its own layout; SenML lines and ride events give the rows of the files derived from them."""
    names = ("jan14_subsample_senml_1000", "jan14_subsample_17col_1000", "fullrate_rides_100000events")
    files = [DATA / f"nyc2013_{name}.csv.gz" for name in (*names, "fullrate_17col_46450")]
    files += [DATA / "tlc_yellow_2013-01_head947.csv.gz", DATA / "debs2015_year_head100.csv"]

    summaries = ingest(spark, files, tmp_path / "out", quiet)

    assert [one.layout for one in summaries] == [
        "senml",
        "challenge",
        "events",
        "challenge",
        "agency",
        "challenge",
    ]
    assert [one.rows for one in summaries] == [1_000, 1_000, 46_450, 46_450, 997, 100]
    rows = rows_of(tmp_path / "out")
    assert [row.pop("n") for row in rows] == list(range(1, 95_998))
    assert rows[:1_000] == rows[1_000:2_000]
    assert rows[2_000:48_450] == rows[48_450:94_900]


def test_bad_files_are_refused_and_leave_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """One sentence with the file; an earlier output stays."""
    good, bad, out = tmp_path / "good.csv", tmp_path / "bad.csv", tmp_path / "out"
    good.write_text(LINE.format(n=1, day=1))
    ingest(spark, [good], out, quiet)
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress("\n".join(LINE.format(n=n * n, day=1) for n in range(999)).encode())[:-300])
    bad.write_text("a,b\n" * 5)

    with pytest.raises(DataError, match=r"cut\.csv\.gz: the packed data are cut short after line \d+$"):
        ingest(spark, [good, cut], out, quiet)
    with pytest.raises(DataError, match=r"bad\.csv: line 1: of none of the known formats"):
        ingest(spark, [good, bad], out, quiet)
    with pytest.raises(DataError, match=r"bad\.csv: none of its 5 lines is a trip \(rejected: columns 5\)"):
        ingest(spark, [bad], out, quiet, layout=LAYOUTS["challenge"])

    assert len(rows_of(out)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "cut.csv.gz", "good.csv", "out"]
