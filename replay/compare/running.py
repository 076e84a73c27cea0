"""Numbers that depend on all earlier rows, computed without bringing the rows to one place.

The rows are cut into chunks of consecutive numbers. Spark computes one small figure per chunk, the driver
accumulates these (one per 100,000 rows), and each chunk gets its starting value back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHUNK_ROWS = 100_000


def with_previous_max(
    spark: SparkSession, rows: DataFrame, *, order: str, value: str, into: str, chunk_rows: int = CHUNK_ROWS
) -> DataFrame:
    """Add a column with the greatest `value` of all earlier rows (null for the first).

    Args:
        spark: Session.
        rows: Rows to extend.
        order: Column of distinct integers from 1 that gives the order, without large gaps.
        value: Column of integers; nulls are passed over.
        into: Name of the new column.
        chunk_rows: Range of `order` that one task handles.

    Returns:
        The rows with the new column, in no particular order.
    """
    chunk = F.floor(F.col(order) / chunk_rows).cast("bigint")
    chunked = rows.withColumn("_chunk", chunk)
    peaks = chunked.groupBy("_chunk").agg(F.max(value).alias("peak")).orderBy("_chunk").collect()
    starts: list[tuple[int, int | None]] = []
    highest: int | None = None
    for row in peaks:
        starts.append((row["_chunk"], highest))
        if row["peak"] is not None:
            highest = row["peak"] if highest is None else max(highest, row["peak"])
    start_table = spark.createDataFrame(starts, "_chunk bigint, _start bigint")
    before = Window.partitionBy("_chunk").orderBy(order).rowsBetween(Window.unboundedPreceding, -1)
    joined = chunked.join(F.broadcast(start_table), "_chunk", "left")
    return joined.withColumn(into, F.greatest(F.max(value).over(before), "_start")).drop("_chunk", "_start")
