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
    from collections.abc import Callable
    from pathlib import Path

    from experiments.evaluation.evaluation_settings import EvaluationSettings

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
        told: What they are, in one sentence.
    """

    path: Path
    count: int
    told: str


def check_data(settings: EvaluationSettings) -> None:
    """Refuse data of no known format, before anything is started.

    Raises:
        replay.errors.DataError: The sentence names the file.
    """
    if settings.minutes is not None:
        return
    if settings.data.is_dir():
        require_table(settings.data)
    else:
        recognise(str(settings.data), first_lines(settings.data, _LINES))


def prepare(settings: EvaluationSettings, folder: Path, say: Callable[[str], None]) -> Rows:
    """Return the rows to replay; what has to be made for that goes into the evaluation's folder.

    Raises:
        ExperimentError: There are fewer rows than are to be sent at the rate.
        replay.errors.DataError: The data cannot be read.
    """
    rows = _rows(settings, folder, say)
    paced = settings.feeding.paced_rows
    if paced > rows.count:
        raise ExperimentError(f"--paced-rows: {paced} is more than the {rows.count} rows of {rows.path}")
    return rows


def _rows(settings: EvaluationSettings, folder: Path, say: Callable[[str], None]) -> Rows:
    if settings.minutes is not None:
        return _made_up(settings.minutes, settings.seed, folder, say)
    data = settings.data
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


def _made_up(minutes: int, seed: int, folder: Path, say: Callable[[str], None]) -> Rows:
    """Make up a day and keep the minutes from noon on, as a file of 17 columns."""
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
    told = f"{count:,} made-up trips of {minutes} minutes from {first} on, seed {seed}"
    return Rows(path, count, told)


def _table_rows(folder: Path) -> int:
    rows = require_table(folder).get("rows")
    if not isinstance(rows, int):
        raise ExperimentError(f"{folder / 'summary.json'}: rows: expected a whole number")
    return rows
