"""The files that one run of the stream leaves: results.csv, states.jsonl, tops.csv, summary.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.numbered_lines import read_lines
from replay.trips.blocks import require_text

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

RESULTS = "results.csv"
STATES = "states.jsonl"
TOPS = "tops.csv"
SUMMARY = "summary.json"
RESULT_COLUMNS = ("n", "row_ms", "emit_us", "done_us", "result_ms", "paced")
_INTEGER = r"^\d{1,18}$"


def require_results(folder: Path) -> None:
    """Refuse a folder without results.csv, without the work of reading it.

    Raises:
        DataError: The file is missing, empty, or has another header.
    """
    path = folder / RESULTS
    require_text(path)
    header = ",".join(RESULT_COLUMNS)
    with path.open("rb") as stream:
        if stream.readline().rstrip(b"\r\n") != header.encode():
            raise DataError(f"{path}: line 1 is not the header {header}")


def read_results(spark: SparkSession, folder: Path) -> DataFrame:
    """Read results.csv, one row per answered row of the taxi file.

    Returns:
        `line` (in the file, from 2), `text`, `malformed` and the columns of `RESULT_COLUMNS` as bigint, null
        where malformed.

    Raises:
        DataError: The file is missing or has another header.
    """
    path = folder / RESULTS
    require_results(folder)
    fields = F.split("text", ",", -1)
    split = read_lines(spark, path).where("line > 1").withColumn("_fields", fields)
    numbers = [
        F.when(F.col("_fields")[place].rlike(_INTEGER), F.col("_fields")[place].cast("bigint")).alias(name)
        for place, name in enumerate(RESULT_COLUMNS)
    ]
    # a missing field must give null, not Spark's error for an index beyond the array's end
    padded = split.withColumn("_fields", F.concat("_fields", F.array_repeat(F.lit(""), len(RESULT_COLUMNS))))
    columns = padded.withColumn("_width", F.size("_fields") - len(RESULT_COLUMNS)).select(
        "line", "text", "_width", *numbers
    )
    malformed = F.col("_width") != len(RESULT_COLUMNS)
    for name in RESULT_COLUMNS:
        malformed = malformed | F.col(name).isNull()
    return columns.withColumn("malformed", malformed | ~F.col("paced").isin(0, 1)).drop("_width")


def read_states(spark: SparkSession, folder: Path) -> DataFrame:
    """Read states.jsonl.

    Returns:
        `line`, `text`, `n` (row of the taxi file) and `state` (JSON text); both null where malformed.

    Raises:
        DataError: The file is missing or empty.
    """
    lines = read_lines(spark, folder / STATES)
    number, state = F.get_json_object("text", "$.n"), F.get_json_object("text", "$.state")
    return lines.select(
        "line", "text", F.when(number.rlike(_INTEGER), number.cast("bigint")).alias("n"), state.alias("state")
    )


def read_tops(spark: SparkSession, folder: Path) -> DataFrame:
    """Read tops.csv: columns `line` (the place of the output row) and `text`.

    Raises:
        DataError: The file is missing.
    """
    path = folder / TOPS
    if path.is_file() and path.stat().st_size == 0:  # a stream without any answer is no bad input
        return spark.createDataFrame([], "line bigint, text string")
    return read_lines(spark, path)
