"""The runs that are analysed: their folders, queries and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.analysis.latency import whole_results
from replay.errors import DataError
from replay.stream_files import RESULTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

QUERY_2 = "query2"
"""Folder of query 2's files inside that of the run."""

Query = Literal[1, 2]


@dataclass(frozen=True)
class QueryRun:
    """The files of one query of one run.

    Attributes:
        run: Name of the run.
        query: Which of the challenge's queries.
        folder: Where results.csv and the other files of the query are.
        home: The run's own folder, with placement.json.
    """

    run: str
    query: Query
    folder: Path
    home: Path

    @property
    def results(self) -> Path:
        """File of the rows that were answered."""
        return self.folder / RESULTS


def find_runs(folders: Sequence[Path]) -> list[QueryRun]:
    """Return what is to be analysed of some runs: each query that has answered, run by run.

    A run has the name of its folder, or its whole path where two names are the same.

    Raises:
        DataError: A folder holds no results of either query, or is given twice.
    """
    found: list[QueryRun] = []
    names = [folder.resolve().name for folder in folders]
    for folder, name in zip(folders, names, strict=True):
        run = name if names.count(name) == 1 else str(folder)
        if run in {each.run for each in found}:
            raise DataError(f"{folder}: the run is given twice")
        parts: tuple[tuple[Query, Path], ...] = ((1, folder), (2, folder / QUERY_2))
        mine = [QueryRun(run, query, part, folder) for query, part in parts if (part / RESULTS).is_file()]
        if not mine:
            raise DataError(f"{folder}: holds no {RESULTS} and no {QUERY_2}/{RESULTS}: no folder of a run")
        found += mine
    return found


def answered_rows(spark: SparkSession, run: QueryRun) -> DataFrame:
    """Read the rows that a query answered.

    Returns:
        The columns of `replay.stream_files.RESULT_COLUMNS`, and `measured`: whether response times are taken
        from the row. These are the rows fed at a set rate, or all if there are none.

    Raises:
        DataError: The file is missing, malformed, or has no row.
    """
    rows = whole_results(spark, run.folder)
    counted = rows.agg(F.count("*").alias("rows"), F.sum("paced").alias("paced")).first()
    if counted is None or not counted["rows"]:
        raise DataError(f"{run.results}: no row was answered")
    return rows.withColumn("measured", F.col("paced") == 1 if counted["paced"] else F.lit(True))  # a literal
