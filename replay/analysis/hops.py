"""The legs of the way of a row in a run: trails and placement, cut by `replay.analysis.breakdown`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.analysis.breakdown import Way, legs
from replay.analysis.measured_rows import TRAILS
from replay.errors import DataError
from replay.places import spark_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from formats.site_file import SiteFile
    from replay.analysis.breakdown import Leg
    from replay.analysis.placement import ExecutorPlace
    from replay.analysis.runs import Query, QueryRun

MOST_ROWS = 20_000
"""Rows whose trails come to the driver; of more a fixed sample does, enough for medians."""

SOURCE = "dataSource"
_METRONOME: dict[Query, str] = {1: "metronome", 2: "areaMetronome"}
_IN, _CLOCK = "_in_us", "_clock_us"


def find_legs(
    spark: SparkSession,
    run: QueryRun,
    rows: DataFrame,
    places: Sequence[ExecutorPlace],
    sites: SiteFile,
) -> tuple[Leg, ...]:
    """Cut the way of a run's measured rows into legs.

    Args:
        spark: Session.
        run: The run.
        rows: As from `replay.analysis.runs.answered_rows`.
        places: Where the executors ran.
        sites: True delays.

    Raises:
        DataError: trails.csv is missing or malformed, lacks a row, or names a component without a place.
    """
    path = run.folder / TRAILS
    columns = _header(path)
    way = way_of(columns, run.query)
    missing = {*way.components, *way.clocks.values()} - {place.component for place in places}
    if missing:
        raise DataError(f"{path}: line 1: the placement has no executor of {', '.join(sorted(missing))}")
    schema = ", ".join(f"`{name}` bigint" for name in columns)
    trails = spark.read.schema(schema).csv(spark_path(path), header=True)
    measured = rows.where("measured")
    every = -(-measured.count() // MOST_ROWS)
    chosen = measured.where(F.pmod(F.xxhash64("n"), F.lit(every)) == 0)
    joined = chosen.join(trails, "n", "left")
    found = joined.toArrow().to_pandas()
    if found.empty:
        raise DataError(f"{run.results}: no row is measured")
    gaps = found.columns[found.isna().any()]
    if len(gaps):
        row = int(found.loc[found[gaps[0]].isna(), "n"].min())
        raise DataError(f"{path}: row {row} of {run.results.name}: {gaps[0]} is missing or no whole number")
    return legs(found, places, sites, way)


def way_of(columns: Sequence[str], query: Query) -> Way:
    """Return the way that the columns of trails.csv show, in the order in which components stamp."""
    components = [name.removesuffix(_IN) for name in columns if name.endswith(_IN)]
    waiting = [name.removesuffix(_CLOCK) for name in columns if name.endswith(_CLOCK)]
    return Way((SOURCE, *components), dict.fromkeys(waiting, _METRONOME[query]))


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as stream:
            columns = stream.readline().rstrip("\r\n").split(",")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    if columns[0] != "n" or not any(name.endswith(_IN) for name in columns):
        raise DataError(f"{path}: line 1 is no header of trails")
    return columns
