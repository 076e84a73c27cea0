"""The folder of expected answers, as another job reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from replay.errors import DataError
from replay.expected.summary import ExpectedSummary, query_folder, read_queries, read_summary
from replay.failures import reading
from replay.places import spark_path

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


_TABLES = ("passed", "instants", "tops")


@dataclass(frozen=True)
class Answers:
    """Expected answers of one query.

    Attributes:
        query: 1 or 2.
        summary: Counts.
        passed: `line`, `dropoff_s` of each row that passes the filter.
        instants: After each drop-off instant, query 1: `line`, `time_s`, `trips`, `routes`, `counts`, `tied`;
            query 2: `line`, `time_s`, `areas`, `empty`, `medians`, `profitabilities`.
        tops: `position`, `line`, `time_s`, `row`, ... of the challenge's output.
    """

    query: int
    summary: ExpectedSummary
    passed: DataFrame
    instants: DataFrame
    tops: DataFrame


def require_answers(folder: Path, query: int) -> ExpectedSummary:
    """Return the counts of one query's part of a folder, or refuse the folder, without a session.

    Raises:
        DataError: It is missing, half written, or of other queries.
    """
    queries = read_queries(folder)
    if query not in queries:
        raise DataError(
            f"{folder}: holds no answers of query {query}; run `stormplace data expected` with --query 1,2"
        )
    part = query_folder(folder, query)
    summary = read_summary(part)
    for name in _TABLES:
        path = part / f"{name}.parquet"
        if not (path / "_SUCCESS").is_file():
            raise DataError(f"{path}: half written or missing; run `stormplace data expected` again")
    return summary


def read_answers(spark: SparkSession, folder: Path, query: int = 1) -> Answers:
    """Open one query's part of a folder written by `replay.expected.compute.write_expected`.

    Args:
        spark: Session.
        folder: The whole folder, also for query 2.
        query: 1 or 2.

    Raises:
        DataError: It is missing, half written, or of other queries.
    """
    summary = require_answers(folder, query)
    tables: dict[str, DataFrame] = {}
    for name in _TABLES:
        path = query_folder(folder, query) / f"{name}.parquet"
        with reading(path):
            tables[name] = spark.read.parquet(spark_path(path))
    return Answers(query, summary, tables["passed"], tables["instants"], tables["tops"])
