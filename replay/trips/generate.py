"""Makes up a load that is like the real rows: any number of days, the same whatever runs it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.errors import DataError
from replay.output import replaced_folder
from replay.trips.city import load_city
from replay.trips.csv_files import write_csv_files
from replay.trips.details import details
from replay.trips.money import PAYMENTS
from replay.trips.plan import BOUNDARY_HOUR, HOUR_S, day_plan
from replay.trips.rates import HOURS, trips_per_minute
from replay.trips.table import SCHEMA, day_folder, day_name, finish, write_part
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from replay.trips.city import City
    from replay.trips.plan import Trips
    from replay.trips.settings import Settings
    from scheduler.base.arrays import IntArray

_TASKS_PER_CORE = 4
_MOST_SLICES = 12
MOST_ROWS_PER_DAY = 5_000_000
"""One task knows the times and taxis of a whole day: 40 bytes per trip, and some copies."""
MOST_DAYS = 3_653
"""Ten years: at New York's rate 1.7 thousand million rows. All hours are counted before the first row."""


@dataclass(frozen=True)
class _Slice:
    """Consecutive hours of one taxi day.

    Attributes:
        day: The taxi day, days since 1970.
        hours: First hour and the one behind the last, hours since 1970.
        rows_before: Rows of the table before the first hour.
    """

    day: int
    hours: tuple[int, int]
    rows_before: int


def require_days(settings: Settings, days: range) -> None:
    """Refuse what `generate` cannot make up.

    Raises:
        DataError: Rate, number of days or first day is out of range.
    """
    if settings.rows_per_day > MOST_ROWS_PER_DAY:
        raise DataError(f"rows per day: at most {MOST_ROWS_PER_DAY:,}, not {settings.rows_per_day:,.0f}")
    if len(days) > MOST_DAYS:
        raise DataError(f"days: at most {MOST_DAYS:,}, ten years, not {len(days):,}")
    if days.start < 0:
        raise DataError(f"start {day_name(days.start)}: the first day must not lie before 1970-01-01")


def generate(
    spark: SparkSession,
    settings: Settings,
    days: range,
    out: Path,
    say: Callable[[str], None],
    *,
    as_csv: bool = False,
    slices: int | None = None,
) -> dict[str, int]:
    """Write a trips table of made-up rows.

    The rows of a day depend on seed, rate and date only; `n` also on the first day.

    Args:
        spark: Session.
        settings: Seed and rate.
        days: Days since 1970, at least one, each next to the one before.
        out: Folder of the table; an earlier one is replaced.
        say: Takes a line about the progress.
        as_csv: Whether to write the rows as CSV too, see `csv_files`.
        slices: Tasks per day; by default so many that all cores have work. The rows do not depend on it.

    Returns:
        Rows by day (`YYYY-MM-DD`).

    Raises:
        DataError: A setting is out of range, or the folder cannot be written.
    """
    require_days(settings, days)
    hours = range(days.start * HOURS, days.stop * HOURS)
    per_hour = np.array([trips_per_minute(settings, hour).sum() for hour in hours])
    if slices is None:
        wanted = _TASKS_PER_CORE * spark.sparkContext.defaultParallelism
        slices = min(_MOST_SLICES, max(1, -(-wanted // (len(days) + 1))))
    pieces = _slices(hours, np.concatenate([[0], np.cumsum(per_hour)]), slices)
    per_day = per_hour.reshape(len(days), HOURS).sum(axis=1).tolist()
    by_day = {day_name(day): rows for day, rows in zip(days, per_day, strict=True)}
    rows = sum(per_day)
    with replaced_folder(out) as folder:
        say(f"making up {rows:,} trips of {len(days)} day{'s' if len(days) > 1 else ''}")
        run_tasks(
            spark,
            partial(_write_slice, settings, load_city(), folder),
            pieces,
            lambda done: say(f"{done:,} of {len(pieces):,} parts are written"),
        )
        if as_csv:
            say("writing them as CSV too")
            write_csv_files(spark, folder)
        source = {"seed": settings.seed, "rows_per_day": settings.rows_per_day, "start": day_name(days.start)}
        finish(folder, {"rows": rows, "days": by_day, "generated": source})
    return by_day


def _slices(hours: range, rows_before: IntArray, slices: int) -> list[_Slice]:
    """Cut hours into pieces that lie in one taxi day each."""
    first, last = hours.start, hours.stop
    pieces = []
    for day in range(first // HOURS - 1, last // HOURS):
        begin = day * HOURS + BOUNDARY_HOUR
        borders = np.unique(np.clip(np.linspace(begin, begin + HOURS, slices + 1).round(), first, last))
        for hour, end in zip(borders[:-1].astype(int), borders[1:].astype(int), strict=True):
            pieces.append(_Slice(day, (int(hour), int(end)), int(rows_before[hour - first])))
    return pieces


def _write_slice(settings: Settings, city: City, folder: Path, piece: _Slice) -> int:
    """Write the files of a slice, one per calendar day; return its rows."""
    plan = day_plan(settings, city, piece.day)
    n = piece.rows_before + 1
    waiting: list[dict[str, np.ndarray]] = []
    for hour in range(*piece.hours):
        trips = _of_hour(plan, hour)
        columns = details(settings, city, hour, trips)
        columns["n"] = np.arange(n, n + len(trips.taxi))
        n += len(trips.taxi)
        waiting.append(columns)
        if hour + 1 == piece.hours[1] or (hour + 1) % HOURS == 0:
            begin = (hour + 1 - len(waiting)) % HOURS
            if any(len(each["n"]) for each in waiting):
                write_part(_table(waiting), day_folder(folder, hour // HOURS) / f"part-{begin:02d}.parquet")
            waiting = []
    return n - 1 - piece.rows_before


def _of_hour(plan: Trips, hour: int) -> Trips:
    first, end = np.searchsorted(plan.dropoff_s, (hour * HOUR_S, (hour + 1) * HOUR_S))
    return plan.part(slice(int(first), int(end)))


def _table(hours: list[dict[str, np.ndarray]]) -> pa.Table:
    columns = {name: np.concatenate([hour[name] for hour in hours]) for name in SCHEMA.names}
    names = {
        "medallion": _hashes("taxi", 1 + int(columns["medallion"].max())),
        "hack_license": _hashes("driver", 1 + int(columns["hack_license"].max())),
        "payment_type": pa.array(PAYMENTS),
    }
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array(columns[name].astype(np.int32)), names[name])
        if name in names
        else pa.array(columns[name], SCHEMA.field(name).type)
        for name in SCHEMA.names
    ]
    return pa.table(arrays, names=SCHEMA.names)


@cache
def _hashes(kind: str, count: int) -> pa.Array:
    """Return names as the real rows have them: MD5 of `taxi7` and the like, in upper case."""
    texts = (f"{kind}{number}".encode() for number in range(count))
    return pa.array([hashlib.md5(text, usedforsecurity=False).hexdigest().upper() for text in texts])
