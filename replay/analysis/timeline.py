"""A run in slices of time: rows in and out per second, and response times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SLICES = 150
"""A run is cut into at most about so many slices, unless their width is given."""

_WIDTHS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
PERCENTILES = (50, 90, 95, 99)


def slice_width_s(span_s: float) -> int:
    """Return a round width (s) for slices of a span (s), if possible at most `SLICES` of them."""
    return next((width for width in _WIDTHS_S if span_s <= width * SLICES), _WIDTHS_S[-1])


def span_ms(rows: DataFrame) -> tuple[int, int]:
    """Return when the first row was available and when the last result was, unix ms.

    Args:
        rows: As from `replay.analysis.runs.answered_rows`.
    """
    found = rows.agg(F.min("row_ms").alias("first"), F.max("result_ms").alias("last")).collect()[0]
    return int(found["first"]), int(found["last"])


def timeline(rows: DataFrame, start_ms: int, width_s: int) -> DataFrame:
    """Cut a run into slices of time.

    Args:
        rows: As from `replay.analysis.runs.answered_rows`.
        start_ms: Where the first slice begins, unix ms.
        width_s: Width of a slice.

    Returns:
        One row per slice in which something happened, in order: `start_s` (after `start_ms`), `rows_in` (rows
        that became available) and `rows_out` (results) as counts and `in_per_s`, `out_per_s` as rates; of the
        measured rows that became available in it `measured`, `mean_ms`, `p50_ms`, `p90_ms`, `p95_ms`,
        `p99_ms`, `max_ms` end to end, null where there are none.
    """

    def slice_of(moment_ms: str) -> Column:
        return F.floor((F.col(moment_ms) - start_ms) / (1000 * width_s)).cast("bigint").alias("slice")

    response = F.when(F.col("measured"), (F.col("result_ms") - F.col("row_ms")).cast("double"))
    grid = F.array(*[F.lit(percent / 100) for percent in PERCENTILES])
    into = (
        rows.select(slice_of("row_ms"), response.alias("ms"))
        .groupBy("slice")
        .agg(
            F.count("*").alias("rows_in"),
            F.count("ms").alias("measured"),
            F.avg("ms").alias("mean_ms"),
            F.percentile("ms", grid).alias("_grid"),
            F.max("ms").alias("max_ms"),
        )
    )
    out = rows.select(slice_of("result_ms")).groupBy("slice").agg(F.count("*").alias("rows_out"))
    both = into.join(out, "slice", "full_outer")
    counts = [F.coalesce(name, F.lit(0)).alias(name) for name in ("rows_in", "rows_out", "measured")]
    percentiles = [F.col("_grid")[place].alias(f"p{percent}_ms") for place, percent in enumerate(PERCENTILES)]
    return (
        both.select((F.col("slice") * width_s).alias("start_s"), *counts, "mean_ms", *percentiles, "max_ms")
        .withColumn("in_per_s", F.col("rows_in") / width_s)
        .withColumn("out_per_s", F.col("rows_out") / width_s)
        .orderBy("start_s")
    )
