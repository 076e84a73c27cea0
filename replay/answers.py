"""The folder of expected answers, as another job reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from replay.errors import DataError
from replay.expected import ExpectedSummary
from replay.failures import reading
from replay.output import MARK, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Answers:
    """Expected answers of query 1 for one file.

    Attributes:
        folder: Where they lie.
        summary: Counts.
        passed: `line`, `dropoff_s` of each row that passes the filter.
        instants: `line`, `time_s`, `trips`, `routes`, `counts`, `tied` after each drop-off instant.
        tops: `position`, `line`, `time_s`, `row`, ... of the challenge's output.
    """

    folder: Path
    summary: ExpectedSummary
    passed: DataFrame
    instants: DataFrame
    tops: DataFrame


def read_answers(spark: SparkSession, folder: Path) -> Answers:
    """Open a folder written by `replay.expected.write_expected`.

    Raises:
        DataError: It is missing or half written.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of expected answers")
    if not (folder / MARK).is_file():
        raise DataError(f"{folder}: holds no {MARK}: not a (complete) folder of expected answers")
    try:
        summary = ExpectedSummary(**read_json(folder / MARK))  # type: ignore[arg-type]  # JSON, checked by name
    except TypeError as error:
        raise DataError(f"{folder / MARK}: not a summary of expected answers: {error}") from error
    tables: dict[str, DataFrame] = {}
    for name in ("passed", "instants", "tops"):
        path = folder / f"{name}.parquet"
        if not (path / "_SUCCESS").is_file():
            raise DataError(f"{path}: half written or missing; run `stormplace data expected` again")
        with reading(path):
            tables[name] = spark.read.parquet(path.resolve().as_uri())
    return Answers(folder, summary, tables["passed"], tables["instants"], tables["tops"])
