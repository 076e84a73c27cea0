"""Blocks of event time that can be worked on independently: each with the half hour that precedes it.

A block holds the trips of one span of drop-off time, (k x span, (k + 1) x span]. Query 1's state after a row
depends on the half hour before that row, and whether a row changes the answer depends on the state after the
row before it. A block therefore also gets the trips of the half hour before the last trip of the
block before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.query1 import WINDOW_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_history(spark: SparkSession, trips: DataFrame, span_s: int) -> DataFrame:
    """Assign each trip to its block and to every later block that needs it as history.

    The driver sees one row per block (8,760 for a year in hours), never the trips.

    Args:
        spark: Session.
        trips: Column `dropoff_s` and any others.
        span_s: Length of a block in seconds.

    Returns:
        The trips with `block` and `history` (true if the trip is only there for the block's start); a trip
        occurs once per block that needs it.
    """
    own = F.floor((F.col("dropoff_s") - 1) / span_s).cast("bigint")
    owned = trips.withColumn("_own", own)
    ends = owned.groupBy("_own").agg(F.max("dropoff_s").alias("last")).orderBy("_own").collect()
    needed: list[tuple[int, int, int]] = []
    for place in range(1, len(ends)):
        after = ends[place - 1]["last"] - WINDOW_S
        for earlier in reversed(ends[:place]):
            if earlier["last"] <= after:
                break
            needed.append((earlier["_own"], ends[place]["_own"], after))
    starts = spark.createDataFrame(needed, "_own bigint, block bigint, _after bigint")
    history = owned.join(F.broadcast(starts), "_own").where(F.col("dropoff_s") > F.col("_after"))
    return owned.select(
        *trips.columns, F.col("_own").alias("block"), F.lit(False).alias("history")
    ).unionByName(history.select(*trips.columns, "block", F.lit(True).alias("history")))
