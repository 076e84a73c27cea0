"""The trips table: its columns, its folder, and how files of it are written whole.

A table is a folder `day=YYYY-MM-DD/part-*.parquet` (day of the drop-off) with `_SUCCESS` and `summary.json`.
In each day the files' names sort in the order of `n`, and so do the rows of each file.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyarrow import parquet as pq

from replay.errors import DataError, MachineError
from replay.failures import reading
from replay.output import MARK, read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

KIND = "trips"
DONE = "_SUCCESS"
DAY_S = 86_400

COORDINATES = ("pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude")
AMOUNTS = ("fare_amount", "surcharge", "mta_tax", "tip_amount", "tolls_amount", "total_amount")

SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("medallion", pa.string()),
        ("hack_license", pa.string()),
        ("pickup_s", pa.int64()),
        ("dropoff_s", pa.int64()),
        ("trip_time_in_secs", pa.int32()),
        ("trip_distance", pa.float64()),
        *((name, pa.float64()) for name in COORDINATES),
        ("payment_type", pa.string()),
        *((name, pa.float64()) for name in AMOUNTS),
    ]
)
"""The columns in the challenge's order, behind the number of the row."""

#: Few different values: a dictionary makes them smaller, and quicker to write than their texts.
_REPEATED = [
    name for name in SCHEMA.names if name not in {"n", "pickup_s", "dropoff_s", "trip_distance", *COORDINATES}
]


def day_name(day: int) -> str:
    """Return `YYYY-MM-DD` of a number of days since 1970."""
    return str(np.datetime64(day, "D"))


def day_folder(folder: Path, day: int) -> Path:
    """Return the folder of a day's files."""
    return folder / f"day={day_name(day)}"


def write_part(table: pa.Table, path: Path) -> None:
    """Write one file of a table, whole or not at all; a second attempt at it replaces the first.

    Strings may come as dictionaries, which are written as plain strings. Raises as `write_parquet`.
    """
    write_parquet(table, path, _REPEATED)


def write_parquet(table: pa.Table, path: Path, repeated: list[str]) -> None:
    """Write a Parquet file beside its place and rename it.

    Args:
        table: The rows.
        path: The file; its folder is made if need be.
        repeated: Columns to be written with a dictionary.

    Raises:
        MachineError: The file cannot be written.
        OSError: Its folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        pq.write_table(
            table,
            scratch,
            row_group_size=262_144,
            compression="zstd",
            compression_level=1,
            use_dictionary=repeated,
            # the types of Arrow would come back as dictionaries for readers that know them
            store_schema=False,
        )
        scratch.replace(path)
    except OSError as error:
        # Arrow's message is a number and a long text
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise MachineError(f"{path}: cannot be written: {reason}") from error
    finally:
        scratch.unlink(missing_ok=True)


def finish(folder: Path, summary: Mapping[str, object]) -> None:
    """Mark a table as complete: `summary.json` and, last, `_SUCCESS`.

    Raises:
        MachineError: A file cannot be written.
    """
    write_json(folder / MARK, {"kind": KIND, **summary})
    (folder / DONE).touch()


def require_table(folder: Path) -> dict[str, object]:
    """Return the summary of a table, or refuse what is none or is not complete.

    Raises:
        DataError: Naming the folder.
    """
    if not folder.exists():
        raise DataError(f"{folder}: no such folder")
    if not folder.is_dir():
        raise DataError(f"{folder}: not a folder; a trips table is made by `data ingest` or `data generate`")
    if not (folder / MARK).is_file() or not (folder / DONE).is_file():
        missing = DONE if (folder / MARK).is_file() else MARK
        raise DataError(
            f"{folder}: no complete trips table ({missing} is missing): what wrote it was broken off, "
            "run it again"
        )
    summary = read_json(folder / MARK)
    if summary.get("kind") != KIND:
        raise DataError(f"{folder / MARK}: no trips table: kind is {summary.get('kind')!r}")
    return summary


def part_files(folder: Path) -> list[Path]:
    """Return the files of a table in the order of their rows within each day, days in order of time."""
    return sorted(folder.glob("day=*/part-*.parquet"))


def read_trips(spark: SparkSession, folder: Path) -> DataFrame:
    """Read a table with Spark: the columns of `SCHEMA` and `day` (date), in no particular order.

    Raises:
        DataError: The folder is no complete table, or holds no file, or files with other columns.
    """
    require_table(folder)
    if not part_files(folder):
        raise DataError(f"{folder}: the trips table holds no row")
    # rejects and the summary lie in the same folder, so only the days' folders are named
    root = f"file://{folder.resolve()}"
    days = (f"{root}/{day.name}" for day in sorted(folder.glob("day=*")))
    with reading(folder):
        trips = spark.read.option("basePath", root).parquet(*days)
    for name in SCHEMA.names:
        if name not in trips.columns:
            raise DataError(f"{folder}: no trips table: its files have no column {name}")
    return trips
