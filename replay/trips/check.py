"""A made-up table beside real rows, figure by figure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.failures import reading
from replay.trips.sample import read_sample, sample_of
from replay.trips.statistics import STEADY_S, money, places
from replay.trips.table import read_trips

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from replay.trips.sample import Sample

PLACES_FILE = "nyc2013_fullrate_17col_46450.csv.gz"
MONEY_FILE = "debs2015_20day_head10004.csv.gz"
_SPAN_S = 300
_LEAST_ROWS = 100_000
"""A day's busiest hour then comes behind as many rows as the real file has."""

_TOLERANCE = 0.15
"""Relative, for all figures that match none of the patterns below."""
_TOLERANCES = {
    # few trips: what chance does to them
    r"most trips of one instant|count of rank|routes, most trips|routes, top 10,": 0.5,
    r"drop-off only / pick-up only|off the grid": 0.8,
    r"zero duration|, once, %|trips within a cell|Zipf": 0.3,
    r"cells to the (east|south)|trips per taxi": 0.25,
    r"output rows": 0.4,
    # the real file with money holds shorter trips than the one that places and durations are taken from
    r"distance|speed|fare, \$|tip of cards": 0.25,
    r"with a toll|trip time is not": 0.5,
}
_SMALL = {
    r"zero duration": 0.3,
    r"tip for cash": 0.1,
    r"with a toll": 0.6,
    r"off the grid": 0.02,
    # whole numbers: the next one is no deviation
    r"cells to the (east|south)|trips per taxi": 1.0,
}
"""Deviations of this size do not count, however small the real figure is."""
_BY_RATE = re.compile(r"trips per second|most trips of one instant|taxi|window|count of rank|output rows")


@dataclass(frozen=True)
class Figure:
    """One figure of made-up and real rows.

    Attributes:
        name: What it is.
        made: Of the made-up rows.
        real: Of the real ones.
        tolerance: How far they may lie apart, relative to the real one.
        verdict: `ok`, `off`, or `not compared` (it depends on the rate, and the rates differ).
    """

    name: str
    made: float
    real: float
    tolerance: float
    verdict: str


def require_real_rows(real: Path, rows: float) -> None:
    """Refuse a comparison that cannot be made, before any row is.

    Args:
        real: Folder of the real rows.
        rows: How many rows will be made up.

    Raises:
        DataError: A file is missing, or the rows will be too few.
    """
    for name in (PLACES_FILE, MONEY_FILE):
        if not (real / name).is_file():
            raise DataError(f"{real / name}: no such file: there are no real rows to compare with")
    if rows < _LEAST_ROWS:
        raise DataError(f"about {rows:,.0f} rows are too few to compare: at least {_LEAST_ROWS:,} are needed")


def check_made_up(spark: SparkSession, table: Path, real: Path) -> list[Figure]:
    """Compare a made-up table with the real rows.

    The sample is as many rows as the real file has, up to the end of the busiest 65 minutes.

    Args:
        spark: Session.
        table: The made-up table.
        real: Folder with the real files `PLACES_FILE` and `MONEY_FILE`.

    Raises:
        DataError: A real file is missing, or the table has fewer rows before that moment than the real file.
    """
    real_places, real_money = (read_sample(real / name) for name in (PLACES_FILE, MONEY_FILE))
    made = _busiest(spark, table, len(real_places.dropoff_s))
    expected = places(real_places)
    same_rate = abs(1.0 - _rate(made) / _rate(real_places)) <= _TOLERANCE
    figures = [_figure(name, value, expected[name], same_rate) for name, value in places(made).items()]
    paid = money(real_money)
    return figures + [_figure(name, value, paid[name], same_rate) for name, value in money(made).items()]


def _figure(name: str, made: float, real: float, same_rate: bool) -> Figure:
    tolerance = next(
        (found for pattern, found in _TOLERANCES.items() if re.search(pattern, name)), _TOLERANCE
    )
    small = next((found for pattern, found in _SMALL.items() if re.search(pattern, name)), 0.0)
    close = abs(made - real) <= max(tolerance * abs(real), small)
    verdict = "ok" if close else "off"
    if not same_rate and _BY_RATE.search(name):
        verdict = "not compared"
    return Figure(name, made, real, tolerance, verdict)


def _rate(sample: Sample) -> float:
    return float((sample.dropoff_s > sample.dropoff_s[-1] - STEADY_S).sum()) / STEADY_S


def _busiest(spark: SparkSession, table: Path, rows: int) -> Sample:
    """Return the rows up to the end of the busiest 65 minutes that have enough rows before it."""
    trips = read_trips(spark, table)
    with reading(table):
        span = F.floor(F.col("dropoff_s") / _SPAN_S).alias("span")
        counted = {
            row["span"]: row["rows"] for row in trips.groupBy(span).agg(F.count("*").alias("rows")).collect()
        }
        last, best, before = 0, -1, 0
        for place in range(min(counted), max(counted) + 1):
            before += counted.get(place, 0)
            within = sum(counted.get(place - step, 0) for step in range(STEADY_S // _SPAN_S))
            if before >= rows and within > best:
                last, best = before, within
        if not last:
            raise DataError(f"{table}: {before:,} rows are too few to compare with {rows:,} real ones")
        chosen = trips.where(F.col("n").between(last - rows + 1, last)).drop("day").toArrow()
    return sample_of(chosen.sort_by("n"))
