"""A trips table gives the same lines as the challenge's file would, in the order of its rows' numbers."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topologies.taxi.replay.check import Checker
from topologies.taxi.replay.open_source import open_source
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEGIN_S = 1_356_998_400  # 2013-01-01 00:00:00
TYPES: dict[str, Any] = {
    "n": pa.int64(),
    "medallion": pa.string(),
    "hack_license": pa.string(),
    "pickup_s": pa.int64(),
    "dropoff_s": pa.int64(),
    "trip_time_in_secs": pa.int32(),
    "trip_distance": pa.float64(),
    "pickup_longitude": pa.float64(),
    "pickup_latitude": pa.float64(),
    "dropoff_longitude": pa.float64(),
    "dropoff_latitude": pa.float64(),
    "payment_type": pa.string(),
    "fare_amount": pa.float64(),
    "surcharge": pa.float64(),
    "mta_tax": pa.float64(),
    "tip_amount": pa.float64(),
    "tolls_amount": pa.float64(),
    "total_amount": pa.float64(),
}


def trip(n: int, **other: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(TYPES, 0.5)
    row |= {"n": n, "medallion": f"M{n}", "hack_license": "L", "payment_type": "CSH"}
    row |= {"pickup_s": BEGIN_S + n - 60, "dropoff_s": BEGIN_S + n, "trip_time_in_secs": 60}
    return row | other


def write_table(folder: Path, days: dict[str, list[list[dict[str, Any]]]], **summary: Any) -> Path:
    rows = 0
    folder.mkdir()
    for day, files in days.items():
        place = folder / f"day={day}"
        place.mkdir()
        for index, trips in enumerate(files):
            table = pa.Table.from_pylist(trips, schema=pa.schema(list(TYPES.items())))
            pq.write_table(table, place / f"part-{index:05}.parquet")
            rows += len(trips)
    (folder / "summary.json").write_text(json.dumps({"kind": "trips", "rows": rows} | summary))
    (folder / "_SUCCESS").touch()
    return folder


def test_a_row_is_written_as_in_the_challenge(tmp_path: Path) -> None:
    """Times in words, numbers as short as they are exact, nothing for what is not there."""
    rows = [
        trip(1, pickup_longitude=-73.956528, trip_distance=1e-05, total_amount=0.1 + 0.2),
        trip(2, medallion=None, trip_time_in_secs=None, tip_amount=None, pickup_latitude=float("nan")),
    ]
    source = open_source(write_table(tmp_path / "t", {"2013-01-01": [rows]}))
    assert list(source.lines()) == [
        b"M1,L,2012-12-31 23:59:01,2013-01-01 00:00:01,60,1e-05,-73.956528,0.5,0.5,0.5,CSH,"
        b"0.5,0.5,0.5,0.5,0.5,0.30000000000000004",
        b",L,2012-12-31 23:59:02,2013-01-01 00:00:02,,0.5,0.5,nan,0.5,0.5,CSH,0.5,0.5,0.5,,0.5,0.5",
    ]
    assert (source.rows, source.fingerprint["source_size"]) == (2, "2")
    assert [Checker().look(line).fault for line in source.lines()] == [None, "coordinates"]


@pytest.mark.parametrize("seed", range(3))
def test_rows_come_in_the_order_of_their_numbers(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where days alternate, as in a source that is not sorted, whatever files and batches hold them."""
    monkeypatch.setattr("topologies.taxi.replay.table._BATCH", 7)
    rng = random.Random(seed)
    days: dict[str, list[list[dict[str, Any]]]] = {f"2013-01-0{day}": [[]] for day in range(1, 5)}
    day = "2013-01-01"
    for n in range(1, 200):
        if rng.random() < (0.5 if n > 100 else 0.02):
            day = rng.choice(list(days))
        if rng.random() < 0.05:
            days[day].append([])
        days[day][-1].append(trip(n))
    source = open_source(write_table(tmp_path / "t", days))
    for _ in range(2):
        assert [line.partition(b",")[0] for line in source.lines()] == [b"M%d" % n for n in range(1, 200)]
    assert source.share() == 1.0


def test_a_killed_job_leaves_no_table(tmp_path: Path) -> None:
    """Without its last file a folder is refused, by name."""
    folder = write_table(tmp_path / "t", {"2013-01-01": [[trip(1)]]})
    (folder / "_SUCCESS").unlink()
    with pytest.raises(RowsError, match=r"t is no finished trips table: it has no _SUCCESS, as when its job"):
        open_source(folder)


def drop_column(folder: Path) -> None:
    (path,) = folder.glob("*/*.parquet")
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["tip_amount"]), path)


def retype(folder: Path) -> None:
    (path,) = folder.glob("*/*.parquet")
    table = pq.read_table(path, partitioning=None)
    texts = table.column("fare_amount").cast(pa.string())
    index = table.schema.get_field_index("fare_amount")
    pq.write_table(table.set_column(index, "fare_amount", texts), path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda folder: (folder / "summary.json").unlink(),
            "t is no finished trips table: summary.json: No such",
        ),
        (lambda folder: (folder / "summary.json").write_text("{"), r"summary\.json is no JSON"),
        (lambda folder: (folder / "summary.json").write_text('{"kind": "x", "rows": 2}'), "no trips table"),
        (lambda folder: shutil.rmtree(folder / "day=2013-01-01"), "holds 0 rows, its summary.json says 2"),
        (drop_column, r"part-00000\.parquet: no trips table, columns are missing: tip_amount"),
        (retype, r"part-00000\.parquet: no trips table, column fare_amount is string"),
        (
            lambda folder: next(folder.glob("*/*.parquet")).write_bytes(b"PAR1" + bytes(60)),
            r"part-00000\.parquet cannot be read",
        ),
    ],
)
def test_a_spoilt_table_is_refused_with_its_place(
    tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    """Before any row is fed."""
    folder = write_table(tmp_path / "t", {"2013-01-01": [[trip(1), trip(2)]]})
    spoil(folder)
    with pytest.raises(RowsError, match=message):
        open_source(folder)


@pytest.mark.parametrize(
    ("rows", "message", "good"),
    [
        ([trip(1), trip(3)], r"part-00000\.parquet: row 3 comes where row 2 was to come", 1),
        ([trip(1), trip(2), trip(2)], "row 2 comes where row 3 was to come", 2),
        ([trip(1, medallion="a\nb")], r"part-00000\.parquet, row 1: a line feed in a text", 0),
    ],
)
def test_rows_that_would_be_miscounted_end_it(
    tmp_path: Path, rows: list[dict[str, Any]], message: str, good: int
) -> None:
    """What comes before is given."""
    source = open_source(write_table(tmp_path / "t", {"2013-01-01": [rows]}))
    lines = []

    def read_all() -> None:
        for line in source.lines():
            lines.append(line)

    with pytest.raises(RowsError, match=message):
        read_all()
    assert len(lines) == good


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    """There is nothing to replay."""
    with pytest.raises(RowsError, match="holds no rows"):
        open_source(write_table(tmp_path / "t", {}))
