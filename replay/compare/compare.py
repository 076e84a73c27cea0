"""Compares a run of the stream with the expected answers; joins run on Spark, the driver sees differences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.compare.differences import first_by_kind
from replay.compare.expected_folder import read_answers, require_answers
from replay.compare.running import with_previous_max
from replay.compare.states import state_differences
from replay.compare.verdict import Difference, RunVerdict, Verdict, clock, earliest_first
from replay.errors import DataError
from replay.expected.summary import QUERY2, query_folder
from replay.failures import reading
from replay.output import read_json
from replay.stream_files import RESULTS, STATES, SUMMARY, TOPS, read_results, read_states, read_tops

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from replay.compare.expected_folder import Answers

_FILES = (RESULTS, STATES, TOPS, SUMMARY)


def answered_queries(run: Path) -> list[int]:
    """Return the queries that a run answered: query 1 has files in the run's folder, query 2 in `query2`.

    Raises:
        DataError: It has answered none.
    """
    queries = [1] if any((run / name).is_file() for name in _FILES) else []
    queries += [2] if (run / QUERY2).is_dir() else []
    if not queries:
        raise DataError(f"{run / RESULTS}: no such file")
    return queries


def require_comparable(expected: Path, run: Path) -> None:
    """Refuse folders of which one lacks a file that the comparison needs, without a session.

    Raises:
        DataError: Naming the file or folder.
    """
    for query in answered_queries(run):
        require_answers(expected, query)
        _require_files(run, query)


def _require_files(run: Path, query: int) -> None:
    for name in _FILES:
        path = query_folder(run, query) / name
        if not path.is_file():
            raise DataError(f"{path}: no such file")


def compare_queries(spark: SparkSession, expected: Path, run: Path, *, free_ties: bool = False) -> RunVerdict:
    """Compare all that a run answered with the expected answers.

    Args:
        spark: Session.
        expected: Folder of the expected answers.
        run: Folder of the run.
        free_ties: See `compare_run`.

    Raises:
        DataError: A file is missing or malformed; the sentence names the file and the line. Or the expected
            answers are not those of a query that the run answered.
    """
    by_query = {
        query: compare_run(spark, read_answers(spark, expected, query), run, free_ties=free_ties)
        for query in answered_queries(run)
    }
    return RunVerdict(by_query)


def compare_run(spark: SparkSession, answers: Answers, run: Path, *, free_ties: bool = False) -> Verdict:
    """Compare one query's part of a run with the expected answers.

    Equal means: the run read as many rows and let as many pass; every passed row is answered exactly once and
    in order; there is one state per drop-off instant, and it is the expected one; and the output rows are the
    same, one by one.

    With free ties, for engines that work in parallel without regard to the order of rows, the order of
    answers and the output rows are not looked at, and states need to be equal by `replay.compare.rank_rule`
    only.

    Args:
        spark: Session.
        answers: The expected answers.
        run: Folder of the run; query 2's part of it lies in `query2`.
        free_ties: Whether entries of one level may come in any order.

    Raises:
        DataError: A file is missing or malformed; the sentence names the file and the line.
    """
    _require_files(run, answers.query)
    folder = query_folder(run, answers.query)
    prefix = "" if answers.query == 1 else f"{QUERY2}/"
    with reading(folder):
        differences = _summary_differences(answers, folder)
        results = read_results(spark, folder).persist()
        answered = results.count()
        differences += _result_differences(spark, answers, results, folder, free_ties=free_ties)
        states = read_states(spark, folder)
        differences += state_differences(spark, answers, states, folder / STATES, free_ties=free_ties)
        if not free_ties:
            differences += _top_differences(answers, read_tops(spark, folder))
        results.unpersist()
    summary = answers.summary
    return Verdict(
        rows_answered=answered,
        rows_expected=summary.valid,
        instants=summary.instants,
        output_rows=summary.output_rows,
        differences=earliest_first([replace(each, file=prefix + each.file) for each in differences]),
    )


def _summary_differences(answers: Answers, folder: Path) -> list[Difference]:
    document = read_json(folder / SUMMARY)
    _check_semantics(answers, document.get("semantics"), folder / SUMMARY)
    expected = {
        "rows": answers.summary.rows,
        "passed": answers.summary.valid,
        "rejected": answers.summary.rows - answers.summary.valid,
    }
    if "reasons" in document:
        expected["reasons"] = answers.summary.rejected  # type: ignore[assignment]  # the one entry that is no count
    differences = []
    for key, value in expected.items():
        if key not in document:
            raise DataError(f"{folder / SUMMARY}: the key {key} is missing")
        if document[key] != value:
            reason = f"the stream counted other {key}"
            differences.append(
                Difference("rows", 1, SUMMARY, None, None, None, str(value), str(document[key]), reason)
            )
    return differences


def _check_semantics(answers: Answers, stated: object, path: Path) -> None:
    """Refuse a run that read the query otherwise than the expected answers; older runs do not state it."""
    choices = stated if isinstance(stated, dict) else {}
    others = {key: value for key, value in choices.items() if answers.summary.semantics.get(key) != value}
    if others:
        needed = " ".join(f"--semantics {key}={value}" for key, value in others.items())
        raise DataError(f"{path}: semantics: the run needs answers of `data expected {needed}`")


def _result_differences(
    spark: SparkSession, answers: Answers, results: DataFrame, folder: Path, *, free_ties: bool
) -> list[Difference]:
    """Find rows without an answer, answers without a row, answers given twice or out of turn."""
    ordered = with_previous_max(spark, results, order="line", value="n", into="_highest")
    joined = ordered.join(
        answers.passed.withColumnRenamed("line", "row"), F.col("n") == F.col("row"), "full_outer"
    )
    kind = (
        F.when(F.col("malformed"), "malformed")
        .when(F.col("n").isNull(), "missing")
        .when(F.col("row").isNull(), "extra")
        .when(F.col("n") == F.col("_highest"), "repeated")
        .when((F.col("n") < F.col("_highest")) & F.lit(not free_ties), "order")
    )
    number = F.coalesce("row", "n")
    found = first_by_kind(
        joined.withColumn("kind", kind).withColumn("n", number).where("kind is not null"),
        "line",
        "text",
        "dropoff_s",
    )
    words = {
        "missing": ("a row that passes has no answer", "one answer", "none"),
        "extra": ("a row that does not pass has an answer", "none", "an answer"),
        "repeated": ("a row is answered twice", "one answer", "another one"),
        "order": ("an answer comes after that of a later row", "rising row numbers", "an earlier row"),
    }
    differences = []
    for each, count, first in found:
        if each == "malformed":
            raise DataError(
                f"{folder / RESULTS}: line {first['line']} is not six whole numbers: {first['text']}"
            )
        reason, expected, got = words[each]
        differences.append(
            Difference(
                each,
                count,
                RESULTS,
                first["line"],
                first["n"],
                clock(first["dropoff_s"]),
                expected,
                got,
                reason,
            )
        )
    return differences


def _top_differences(answers: Answers, tops: DataFrame) -> list[Difference]:
    expected = answers.tops.select("position", F.col("line").alias("n"), "time_s", "row")
    joined = expected.join(tops, F.col("position") == F.col("line"), "full_outer")
    differing = joined.where(~F.col("row").eqNullSafe(F.col("text"))).withColumn("kind", F.lit("top"))
    return [
        Difference(
            "top",
            count,
            TOPS,
            first["line"],
            first["n"],
            clock(first["time_s"]),
            first["row"] or "no further output row",
            first["text"] or "no further output row",
            f"output row {first['position'] or first['line']} is another one",
        )
        for _, count, first in first_by_kind(differing, "line", "position", "time_s", "row", "text")
    ]
