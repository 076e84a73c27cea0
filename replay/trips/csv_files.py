"""A trips table as the challenge's CSV, for programs that read nothing else: one packed file per day."""

from __future__ import annotations

import gzip
import uuid
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise
from pyarrow import csv

from replay.trips.numbering import read_part
from replay.trips.table import AMOUNTS, COORDINATES, SCHEMA
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

FOLDER = "csv"
_DIGITS = {"trip_distance": 2} | dict.fromkeys(COORDINATES, 6) | dict.fromkeys(AMOUNTS, 2)
_DECIMAL_PLACES = 18
_PACKING = 1


def write_csv_files(spark: SparkSession, table: Path) -> None:
    """Write `csv/YYYY-MM-DD.csv.gz` into a table's folder: 17 columns, no header, rows in order.

    Coordinates get six digits behind the point, distances and amounts two, as in the challenge's data.

    Args:
        spark: Session.
        table: Folder of the table; it need not be finished yet.

    Raises:
        MachineError: A file cannot be written.
    """
    (table / FOLDER).mkdir(exist_ok=True)
    run_tasks(spark, partial(_write_day, table / FOLDER), sorted(table.glob("day=*")))


def _write_day(folder: Path, day: Path) -> None:
    path = folder / f"{day.name.removeprefix('day=')}.csv.gz"
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with gzip.open(scratch, "wb", compresslevel=_PACKING) as stream:
            for part in sorted(day.glob("part-*.parquet")):
                csv.write_csv(
                    _texts(read_part(part)),
                    stream,
                    csv.WriteOptions(include_header=False, quoting_style="none"),
                )
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _texts(trips: pa.Table) -> pa.Table:
    """Return the 17 columns in types whose texts are those of the challenge."""
    columns = []
    names = [name for name in SCHEMA.names if name != "n"]
    for name in names:
        column = trips[name].combine_chunks()
        if name in _DIGITS:
            columns.append(
                pc.round(column, _DIGITS[name]).cast(pa.decimal128(_DECIMAL_PLACES, _DIGITS[name]))
            )
        elif name in {"pickup_s", "dropoff_s"}:
            columns.append(column.cast(pa.timestamp("s")))
        else:
            columns.append(column)
    return pa.table(columns, names=names)
