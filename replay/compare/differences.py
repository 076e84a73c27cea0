"""Differences by kind: how many there are, and the first of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def first_by_kind(differing: DataFrame, *columns: str) -> list[tuple[str, int, Row]]:
    """Return per kind how many rows there are, and the first of them by row number, then by line."""
    order = F.struct(F.coalesce("n", F.lit(2**62)), F.coalesce("line", F.lit(0)))
    grouped = differing.groupBy("kind").agg(
        F.count("*").alias("found"), F.min_by(F.struct("n", *columns), order).alias("first")
    )
    return [(row["kind"], row["found"], row["first"]) for row in grouped.collect()]
