"""The rows of an evaluation: taken as they are, taken in from another format, or made up."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from experiments.topologies.taxi_query import count_rows
from replay.session import spark_session
from replay.trips.blocks import first_lines
from replay.trips.clean import clean
from replay.trips.generate import generate
from replay.trips.ingest import ingest
from replay.trips.layouts import CHALLENGE, recognise
from replay.trips.settings import Settings
from replay.trips.table import require_table

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.topologies.description import Say

FIRST_DAY = date(2013, 1, 14)
NOON = 12
EPOCH = date(1970, 1, 1)
MADE_UP = "made-up.csv.gz"
_DROPOFF = 3
_LINES = 100


@dataclass(frozen=True)
class Rows:
    """Rows that can be replayed.

    Attributes:
        path: File of 17 columns, or trips table.
        count: How many.
        sentence: What they are.
    """

    path: Path
    count: int
    sentence: str


def check_data(data: Path) -> None:
    """Refuse data of no known format.

    Raises:
        replay.errors.DataError: The sentence names the file.
    """
    if data.is_dir():
        require_table(data)
    else:
        recognise(str(data), first_lines(data, _LINES))


def rows_of(data: Path, folder: Path, say: Say) -> Rows:
    """Return the rows of a file or table; what has to be made of them for a replay goes into a folder.

    Raises:
        replay.errors.DataError: The data cannot be read.
    """
    if data.is_dir():
        count = _table_rows(data)
        return Rows(data.resolve(), count, f"trips table {data.name}: {count:,} trips")
    layout = recognise(str(data), first_lines(data, _LINES))
    if layout is CHALLENGE:
        count = count_rows(data)
        return Rows(data.resolve(), count, f"{data.name}: {count:,} trips in the challenge's 17 columns")
    taken_in, table = folder / "ingested", folder / "trips"
    with spark_session() as spark:
        ingest(spark, [data], taken_in, say)
        clean(spark, taken_in, table, say)
    count = _table_rows(table)
    return Rows(table, count, f"{data.name}, {layout.description}: {count:,} trips taken in and cleaned")


def made_up_rows(minutes: int, seed: int, folder: Path, say: Say) -> Rows:
    """Make up a day and keep the minutes from noon on, as a file of 17 columns in a folder."""
    table, path = folder / "made-up-day", folder / MADE_UP
    day = (FIRST_DAY - EPOCH).days
    with spark_session() as spark:
        generate(spark, Settings(seed), range(day, day + 1), table, say, as_csv=True)
    start = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day, NOON)  # the data's own time
    first, end = (f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (start, start + timedelta(minutes=minutes)))
    count = 0
    with gzip.open(table / "csv" / f"{FIRST_DAY}.csv.gz", "rt") as lines, gzip.open(path, "wt") as kept:
        for line in lines:
            moment = line.split(",", _DROPOFF + 1)[_DROPOFF]
            if first <= moment < end:
                kept.write(line)
                count += 1
    shutil.rmtree(table)
    return Rows(path, count, f"{count:,} made-up trips of {minutes} minutes from {first} on, seed {seed}")


def _table_rows(folder: Path) -> int:
    rows = require_table(folder).get("rows")
    if not isinstance(rows, int):
        raise ExperimentError(f"{folder / 'summary.json'}: rows: expected a whole number")
    return rows
