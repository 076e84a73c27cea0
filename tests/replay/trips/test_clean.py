"""From one trips table to another."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
from pyarrow import parquet as pq

from replay.errors import DataError
from replay.trips.clean import clean
from replay.trips.reasons import COLUMNS, KEPT, REASONS, reasons
from replay.trips.table import DAY_S, SCHEMA, day_folder, finish, part_files, write_part

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MIDNIGHT = 15_719 * DAY_S
INSIDE = {
    "pickup_longitude": -73.98,
    "pickup_latitude": 40.75,
    "dropoff_longitude": -73.97,
    "dropoff_latitude": 40.76,
}


def quiet(_: str) -> None:
    pass


def trip(dropoff_s: int, **changed: object) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SCHEMA.names, 1.0)
    row |= {"medallion": "M", "hack_license": "L", "payment_type": "CSH", "trip_time_in_secs": 60}
    return row | INSIDE | {"pickup_s": dropoff_s - 60, "dropoff_s": dropoff_s} | changed


def write(folder: Path, rows: list[dict[str, Any]], rows_per_file: int = 1_000) -> None:
    for first in range(0, len(rows), rows_per_file):
        numbered = [
            row | {"n": first + k} for k, row in enumerate(rows[first : first + rows_per_file], start=1)
        ]
        for day in {row["dropoff_s"] // DAY_S for row in numbered}:
            table = pa.Table.from_pylist(
                [row for row in numbered if row["dropoff_s"] // DAY_S == day], SCHEMA
            )
            write_part(table, day_folder(folder, day) / f"part-{first:06d}.parquet")
    finish(folder, {"rows": len(rows)})


def rows_of(folder: Path) -> list[dict[str, Any]]:
    tables = [pq.read_table(file, partitioning=None) for file in part_files(folder)]
    assert all(table.schema.equals(SCHEMA) for table in tables)
    found: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"medallion": None, "payment_type": None}, None),
        ({"fare_amount": None}, "missing values"),
        ({"pickup_longitude": None}, "missing values"),
        ({"trip_time_in_secs": None, "dropoff_latitude": 0.0}, "missing values"),
        ({"pickup_latitude": -0.0}, "zero coordinates"),
        ({"dropoff_longitude": 0.0, "pickup_longitude": -80.0}, "zero coordinates"),
        ({"pickup_longitude": -74.9165781}, "off the grid"),
        ({"pickup_longitude": -74.9165779}, None),
        # the areas of 250 m end a little further south than the cells do
        ({"dropoff_latitude": 40.1286}, None),
        ({"dropoff_latitude": 40.1285}, "off the grid"),
        ({"dropoff_latitude": 1e300}, "off the grid"),
        ({"pickup_s": MIDNIGHT + 1}, "impossible times"),
        ({"pickup_s": MIDNIGHT}, None),
        ({"pickup_s": MIDNIGHT - DAY_S}, None),
        ({"pickup_s": MIDNIGHT - DAY_S - 1}, "impossible times"),
    ],
)
def test_each_fault_has_its_reason(changed: dict[str, object], reason: str | None) -> None:
    table = pa.Table.from_pylist([trip(MIDNIGHT), trip(MIDNIGHT, **changed)], SCHEMA).select(COLUMNS)

    assert reasons(table).tolist() == [KEPT, KEPT if reason is None else REASONS.index(reason)]


@pytest.mark.spark
@pytest.mark.parametrize("slice_rows", [1, 50, 100_000])
def test_a_cleaned_table_is_sorted_dense_and_without_faults(
    spark: SparkSession, tmp_path: Path, slice_rows: int
) -> None:
    """Against a plain reference, for rows of three days in any order with ties, faults and doubles."""
    seed = 2013
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for _ in range(400):
        dropoff = MIDNIGHT + rng.choice((0, 1, 899, 900, 30_000, DAY_S - 1, DAY_S, 2 * DAY_S + 5))
        fault = rng.choice(({}, {}, {}, {"fare_amount": None}, {"pickup_latitude": 0.0}))
        rows.append(trip(dropoff, medallion=rng.choice("ABCDEF"), tip_amount=rng.randint(0, 3) / 1, **fault))
    write(tmp_path / "in", rows, rows_per_file=70)

    summary = clean(spark, tmp_path / "in", tmp_path / "out", quiet, slice_rows=slice_rows)

    expected: list[dict[str, Any]] = []
    seen: set[tuple[object, ...]] = set()
    rejected = {"missing values": 0, "zero coordinates": 0, "duplicates": 0}
    for row in rows:
        key = tuple(row[name] for name in SCHEMA.names if name != "n")
        if row["fare_amount"] is None:
            rejected["missing values"] += 1
        elif row["pickup_latitude"] == 0.0:
            rejected["zero coordinates"] += 1
        elif key in seen:
            rejected["duplicates"] += 1
        else:
            expected.append(row)
        seen.add(key)
    expected.sort(key=lambda row: row["dropoff_s"])
    found = rows_of(tmp_path / "out")
    assert found == [row | {"n": n} for n, row in enumerate(expected, start=1)], seed
    assert (summary.rows_before, summary.rows, summary.rejected) == (400, len(expected), rejected)


@pytest.mark.spark
def test_tables_that_are_not_complete_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """One sentence with the folder; nothing is written."""
    source, out = tmp_path / "in", tmp_path / "out"
    with pytest.raises(DataError, match="in: no such folder"):
        clean(spark, source, out, quiet)
    write(source, [trip(MIDNIGHT)])
    with pytest.raises(DataError, match="cannot take the place of its source"):
        clean(spark, source, source, quiet)

    part = part_files(source)[0]
    whole = part.read_bytes()
    part.write_bytes(whole[:100])
    with pytest.raises(DataError, match=rf"{part}: no file of a trips table"):
        clean(spark, source, out, quiet)
    pq.write_table(pa.table({"a": [1]}), part)
    with pytest.raises(DataError, match=r"no file of a trips table: No match for .*pickup_s.*") as refused:
        clean(spark, source, out, quiet)
    assert "\n" not in str(refused.value)
    part.write_bytes(whole)
    (source / "_SUCCESS").unlink()
    with pytest.raises(DataError, match=r"in: no complete trips table \(_SUCCESS is missing\)"):
        clean(spark, source, out, quiet)
    (source / "_SUCCESS").touch()
    (source / "summary.json").write_text('{"kind": "answers"}')
    with pytest.raises(DataError, match="no trips table: kind is 'answers'"):
        clean(spark, source, out, quiet)
    write(source, [trip(MIDNIGHT, fare_amount=None)])
    with pytest.raises(DataError, match="no row is left: missing values 1"):
        clean(spark, source, out, quiet)
    assert not out.exists()
