"""The tables of expected answers, from what the blocks answered."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.expected.boundaries import false_tops
from replay.expected.considered import FILTER_REASONS, PARSER_REASONS, TIME_GOES_BACK
from replay.output import write_json
from replay.places import spark_path

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LISTED_REJECTS = 1000
#: What the answers' columns are called in the tables of each query.
_RANKS = {
    1: ("names as routes", "counts"),
    2: ("names as areas", "counts as empty", "medians", "profitabilities"),
}


@dataclass(frozen=True)
class Answered:
    """What the blocks answered for all queries.

    Attributes:
        rows: Columns as in `replay.expected.kernel.block_tables`.
        counts: Answers by (query, kind, block).
        false: (query, block) whose first row is taken for an output row and is none.
    """

    rows: DataFrame
    counts: dict[tuple[int, str, int], int]
    false: set[tuple[int, int]]

    def count(self, query: int, kind: str) -> int:
        """Return how many rows of a kind there are."""
        return sum(count for (of, what, _), count in self.counts.items() if (of, what) == (query, kind))

    def tops(self, query: int) -> int:
        """Return how many output rows a query has."""
        return self.count(query, "top") - sum(of == query for of, _ in self.false)


def survey(rows: DataFrame) -> Answered:
    """Count what the blocks answered; the driver sees some rows per block."""
    held = F.when(F.col("kind") == "passed", F.size("lines")).otherwise(1)
    found = rows.groupBy("query", "kind", "block").agg(F.sum(held).alias("rows")).collect()
    counts = {(row["query"], row["kind"], row["block"]): row["rows"] for row in found}
    borders = rows.where("first or kind = 'edge'").select("query", "block", "kind", "labels").collect()
    return Answered(rows, counts, false_tops(tuple(row) for row in borders))


def write_rejects(
    early_rejects: DataFrame,
    answered: Answered,
    query: int,
    folder: Path,
    *,
    head: dict[str, object],
    early: dict[str, int],
) -> dict[str, int]:
    """Write rejects.parquet and rejects.json of a query; return the number of rejects by reason.

    Args:
        early_rejects: Those that need no order of rows to be seen, as of `replay.expected.judged`.
        answered: What the blocks answered.
        query: 1 or 2.
        folder: Where to write.
        head: First entries of rejects.json.
        early: Number of early rejects by reason.
    """
    by_rule = early_rejects.where(F.col(f"reason{query}").isNotNull()).select(
        F.col("n").alias("line"),
        F.col(f"reason{query}").alias("reason"),
        F.col(f"detail{query}").alias("detail"),
    )
    dropoff = F.date_format(F.timestamp_seconds("time_s"), "yyyy-MM-dd HH:mm:ss")
    late = answered.rows.where((F.col("query") == query) & (F.col("kind") == "reject")).select(
        "line", F.lit(TIME_GOES_BACK).alias("reason"), dropoff.alias("detail")
    )
    rejects = by_rule.unionByName(late)
    rejects.write.parquet(spark_path(folder / "rejects.parquet"))
    counts = early | {TIME_GOES_BACK: answered.count(query, "reject")}
    listed = rejects.orderBy("line").limit(LISTED_REJECTS).collect()
    document = {
        **head,
        "parser": {reason: counts[reason] for reason in PARSER_REASONS if counts.get(reason)},
        "filter": {reason: counts[reason] for reason in FILTER_REASONS if counts.get(reason)},
        "listed": len(listed),
        "rejects": [row.asDict() for row in listed],
    }
    write_json(folder / "rejects.json", document)
    return {reason: count for reason, count in sorted(counts.items()) if count}


def write_answers(spark: SparkSession, answered: Answered, query: int, folder: Path) -> None:
    """Write a query's tables passed, instants, minutes and tops.

    Args:
        spark: Session.
        answered: What the blocks answered.
        query: 1 or 2.
        folder: Where to write.
    """
    own = answered.rows.where(F.col("query") == query)
    states = ["line", "time_s", *(["trips"] if query == 1 else []), *_RANKS[query]]
    states += ["tied"] if query == 1 else []
    trips = own.where("kind = 'passed'").select(F.explode(F.arrays_zip("lines", "times")).alias("trip"))
    passed = trips.select(F.col("trip.lines").alias("line"), F.col("trip.times").alias("dropoff_s"))
    passed.write.parquet(spark_path(folder / "passed.parquet"))
    own.where("kind = 'instant'").selectExpr(*states).write.parquet(spark_path(folder / "instants.parquet"))
    own.where("kind = 'minute'").selectExpr(*states).write.parquet(spark_path(folder / "minutes.parquet"))
    tops = _number_tops(spark, answered, query)
    columns = ("position", "line", "time_s", *_RANKS[query], "row")
    tops.selectExpr(*columns).write.parquet(spark_path(folder / "tops.parquet"))


def _number_tops(spark: SparkSession, answered: Answered, query: int) -> DataFrame:
    """Number a query's output rows through all blocks."""
    false = {block for of, block in answered.false if of == query}
    per_block = sorted(
        (block, count - (block in false))
        for (of, kind, block), count in answered.counts.items()
        if (of, kind) == (query, "top")
    )
    ends = accumulate(count for _, count in per_block)
    blocks = [
        (block, end - count, block in false) for (block, count), end in zip(per_block, ends, strict=True)
    ]
    offsets = spark.createDataFrame(blocks, "block bigint, _before bigint, _false boolean")
    own = answered.rows.where((F.col("query") == query) & (F.col("kind") == "top"))
    tops = own.join(F.broadcast(offsets), "block").where("not (first and _false)")
    place = F.row_number().over(Window.partitionBy("block").orderBy("line", "time_s")) + F.col("_before")
    return tops.withColumn("position", place.cast("bigint"))
