"""From numbered lines to trips: strict parsing, then the challenge's filter; every reject has a reason.

Two stages turn lines away, as in the topology. The parser drops what is no trip report: `columns`,
`pickup_datetime`, `dropoff_datetime`, `coordinates`. The filter drops trips that the query does not consider:
`zero_coordinates`, `outside_grid`, `time_goes_back` (a drop-off before that of an earlier trip that passed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.grid import east_index, on_grid, route, south_index
from replay.running import CHUNK_ROWS, with_previous_max

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COLUMNS = 17
PARSER_REASONS = ("columns", "pickup_datetime", "dropoff_datetime", "coordinates")
FILTER_REASONS = ("zero_coordinates", "outside_grid", "time_goes_back")

_COORDINATES = {"start_lon": 6, "start_lat": 7, "end_lon": 8, "end_lat": 9}
_TIME = r"^(?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def clean(spark: SparkSession, lines: DataFrame, chunk_rows: int = CHUNK_ROWS) -> DataFrame:
    """Parse and filter numbered lines.

    Fares, distances and the trip time are not looked at: query 1 does not use them.

    Args:
        spark: Session.
        lines: Columns `line` and `text`.
        chunk_rows: Lines that one task orders in time at once.

    Returns:
        One row per line: `line`, `reason` (null for a trip that passes), `detail` (the offending text, for
        rejects), `pickup` and `dropoff` (text), `dropoff_s` (seconds since 1970, local time read as UTC) and
        `route`.
    """
    parsed = _parse(lines)
    filtered = parsed.withColumn("reason", F.coalesce(F.col("reason"), _filter_reason()))
    time_if_passed = F.when(F.col("reason").isNull(), F.col("dropoff_s"))
    timed = with_previous_max(
        spark,
        filtered.withColumn("_time", time_if_passed),
        order="line",
        value="_time",
        into="_clock",
        chunk_rows=chunk_rows,
    )
    goes_back = F.col("reason").isNull() & (F.col("dropoff_s") < F.col("_clock"))
    judged = timed.withColumn("reason", F.when(goes_back, "time_goes_back").otherwise(F.col("reason")))
    cells = [F.col(name) for name in ("start_east", "start_south", "end_east", "end_south")]
    return judged.select(
        "line",
        "reason",
        _detail().alias("detail"),
        "pickup",
        "dropoff",
        "dropoff_s",
        route(*cells).alias("route"),
    )


def _parse(lines: DataFrame) -> DataFrame:
    fields = lines.withColumn("fields", F.split("text", ",", -1))
    valid_count = F.size("fields") == COLUMNS
    named = fields.select(
        "line",
        F.substring("text", 1, 200).alias("text"),
        valid_count.alias("_valid_count"),
        F.when(valid_count, F.col("fields")[2]).alias("pickup"),
        F.when(valid_count, F.col("fields")[3]).alias("dropoff"),
        *[
            F.when(valid_count, F.col("fields")[place]).alias(f"{name}_text")
            for name, place in _COORDINATES.items()
        ],
    )
    typed = named.select(
        "*",
        _seconds("pickup").alias("pickup_s"),
        _seconds("dropoff").alias("dropoff_s"),
        *[_number(f"{name}_text").alias(name) for name in _COORDINATES],
    )
    missing_number = F.lit(False)
    for name in _COORDINATES:
        missing_number = missing_number | F.col(name).isNull()
    reason = (
        F.when(~F.col("_valid_count"), "columns")
        .when(F.col("pickup_s").isNull(), "pickup_datetime")
        .when(F.col("dropoff_s").isNull(), "dropoff_datetime")
        .when(missing_number, "coordinates")
    )
    return typed.select(
        "*",
        reason.alias("reason"),
        east_index(F.col("start_lon")).alias("start_east"),
        south_index(F.col("start_lat")).alias("start_south"),
        east_index(F.col("end_lon")).alias("end_east"),
        south_index(F.col("end_lat")).alias("end_south"),
    )


def _seconds(column: str) -> Column:
    """Return seconds since 1970 of `YYYY-MM-DD HH:MM:SS`, null for anything else."""
    time = F.try_to_timestamp(F.col(column), F.lit("yyyy-MM-dd HH:mm:ss"))
    return F.when(F.col(column).rlike(_TIME), F.unix_timestamp(time))


def _number(column: str) -> Column:
    """Return a finite decimal number, null for anything else."""
    value = F.when(F.col(column).rlike(_NUMBER), F.trim(F.col(column)).try_cast("double"))
    return F.when(F.abs(value) < F.lit(float("inf")), value)


def _filter_reason() -> Column:
    zero = F.lit(False)
    for name in _COORDINATES:
        zero = zero | (F.col(name) == 0.0)
    cells = [F.col(name) for name in ("start_east", "start_south", "end_east", "end_south")]
    return F.when(zero, "zero_coordinates").when(~on_grid(*cells), "outside_grid")


def _detail() -> Column:
    """Return the text that shows why a line was turned away, null for the others."""
    coordinates = F.concat_ws(",", *[F.col(f"{name}_text") for name in _COORDINATES])
    return (
        F.when(F.col("reason") == "columns", F.col("text"))
        .when(F.col("reason") == "pickup_datetime", F.col("pickup"))
        .when(F.col("reason").isin("dropoff_datetime", "time_goes_back"), F.col("dropoff"))
        .when(F.col("reason").isNotNull(), coordinates)
    )
