"""Text files as numbered lines.

The order of the file decides ties in query 1, so every line keeps its exact number however many tasks read
it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.failures import reading
from replay.places import spark_path
from replay.trips.blocks import broken_gzip, require_text

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def read_lines(spark: SparkSession, path: Path) -> DataFrame:
    """Read a text file, plain or gzip, with the number of every line.

    Spark cuts a plain file into blocks of bytes and gives no promise in which partition or order it reads
    them. Lines are therefore counted per block; the blocks' offsets in the file order the counts.

    Args:
        spark: Session.
        path: The file; a name ending in `.gz` is unpacked on the way.

    Returns:
        Columns `line` (bigint, from 1) and `text` (without the line's end; what is no UTF-8 is U+FFFD).

    Raises:
        DataError: The file is missing, empty, or cut short.
    """
    require_text(path)
    raw = spark.read.text(spark_path(path), lineSep="\n").select(
        F.when(F.endswith("value", F.lit("\r")), F.expr("left(value, length(value) - 1)"))
        .otherwise(F.col("value"))
        .alias("_bytes"),
        F.col("_metadata.file_block_start").alias("_block"),
        F.monotonically_increasing_id().alias("_id"),
    )
    try:
        with reading(path):
            counted = (
                raw.groupBy("_block").agg(F.min("_id").alias("first"), F.count("*").alias("lines")).collect()
            )
    except DataError as error:
        raise DataError((broken_gzip(path) if path.suffix == ".gz" else None) or str(error)) from error
    counted.sort(key=lambda row: row["_block"])
    ends = list(accumulate(row["lines"] for row in counted))
    if not ends:
        raise DataError(f"{path}: the file holds no line")
    blocks = [
        (row["_block"], row["first"], end - row["lines"]) for row, end in zip(counted, ends, strict=True)
    ]
    offsets = spark.createDataFrame(blocks, "_block bigint, _first bigint, _before bigint")
    numbered = raw.join(F.broadcast(offsets), "_block")
    number = F.col("_id") - F.col("_first") + F.col("_before") + 1
    # Spark hands on what the file holds; Python reads texts in UTF-8 only
    return numbered.select(number.alias("line"), F.make_valid_utf8("_bytes").alias("text"))
