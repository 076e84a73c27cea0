"""What a run answered: how often which route or area was among the ten best, and the demand behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.stream_files import STATES, read_states, read_tops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame, SparkSession

    from replay.analysis.runs import Query, QueryRun

RANKS = 10
NULL = "NULL"
_FIRST = 2
"""Columns of an output row before the first rank: pick-up and drop-off time."""

DEMAND_SLICE_S = 60


def count_ranks(spark: SparkSession, run: QueryRun) -> DataFrame:
    """Count what was among the ten best in the output rows of a run.

    Returns:
        For query 1 one row per route: `name` (`START-END`), `start` and `end` cell; for query 2 one per
        area: `name`, `start` (the area), `median` (mean over the output rows of the median profit there,
        dollars), `profitability` (likewise, dollars per empty taxi), `empty` (mean empty taxis). For both
        `rows` (output rows that list it), `share` (of all output rows), `best_rank` and `mean_rank`; the
        most frequent first.
    """
    width = 2 if run.query == 1 else 4
    tops = read_tops(spark, run.folder).select(F.split("text", ",", -1).alias("_fields"))
    total = max(tops.count(), 1)
    places = F.sequence(F.lit(0), F.lit(RANKS - 1))
    taken = tops.select("_fields", F.explode(places).alias("_rank")).select(
        *[
            F.get("_fields", F.lit(_FIRST) + F.col("_rank") * width + place).alias(f"_{place}")
            for place in range(width)
        ],
        (F.col("_rank") + 1).alias("rank"),
    )
    there = taken.where((F.col("_0") != NULL) & (F.col("_0") != ""))
    by_query: dict[Query, tuple[list[Column], list[Column]]] = {
        1: (
            [
                F.concat_ws("-", "_0", "_1").alias("name"),
                F.col("_0").alias("start"),
                F.col("_1").alias("end"),
            ],
            [],
        ),
        2: (
            [F.col("_0").alias("name"), F.col("_0").alias("start")],
            [
                F.avg(F.col(column).try_cast("double")).alias(name)
                for column, name in (("_1", "empty"), ("_2", "median"), ("_3", "profitability"))
            ],
        ),
    }
    keys, figures = by_query[run.query]
    counts = [
        F.count("*").alias("rows"),
        (F.count("*") / total).alias("share"),
        F.min("rank").alias("best_rank"),
        F.avg("rank").alias("mean_rank"),
    ]
    return there.groupBy(*keys).agg(*counts, *figures).orderBy(F.desc("rows"), "mean_rank", "name")


def count_demand(spark: SparkSession, run: QueryRun, rows: DataFrame) -> DataFrame:
    """Count the answered rows per minute of event time.

    The state file has the drop-off time at some rows, among them the last of each instant; a row belongs to
    the first of these at or after it.

    Args:
        spark: Session.
        run: The run.
        rows: As from `replay.analysis.runs.answered_rows`.

    Returns:
        `minute_s` (seconds since 1970 of local time read as UTC) and `rows`, in order.

    Raises:
        DataError: A line of states.jsonl has no row or drop-off time.
    """
    stamp = F.unix_timestamp(F.try_to_timestamp(F.get_json_object("text", "$.dropoff")))
    states = read_states(spark, run.folder).select("line", "n", stamp.alias("dropoff_s"))
    bad = states.where("n is null or dropoff_s is null").orderBy("line").first()
    if bad is not None:
        raise DataError(f"{run.folder / STATES}: line {bad['line']}: no row number or no drop-off time")
    # one small pair per instant, at most 86,400 in a day
    pairs = sorted((row["n"], row["dropoff_s"]) for row in states.select("n", "dropoff_s").collect())
    ends = spark.sparkContext.broadcast(np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def minutes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers, times = ends.value[:, 0], ends.value[:, 1]
        for batch in batches:
            place = np.searchsorted(numbers, batch.column("n").to_numpy(), side="left")
            known = place[place < len(numbers)]
            minute, count = np.unique(times[known] // DEMAND_SLICE_S * DEMAND_SLICE_S, return_counts=True)
            yield pa.RecordBatch.from_arrays([pa.array(minute), pa.array(count)], ["minute_s", "rows"])

    counted = rows.select("n").mapInArrow(minutes, "minute_s bigint, rows bigint")
    return counted.groupBy("minute_s").agg(F.sum("rows").alias("rows")).orderBy("minute_s")
