"""Compares a run of the stream with the expected answers; joins run on Spark, the driver sees differences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.failures import reading
from replay.output import read_json
from replay.running import with_previous_max
from replay.state_rule import difference, is_state, shown
from replay.stream_files import RESULTS, STATES, SUMMARY, TOPS, read_results, read_states, read_tops
from replay.verdict import Difference, Verdict, clock, earliest_first

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from replay.answers import Answers

_STATE_DIFFERENCE = "n bigint, time_s bigint, line bigint, expected string, got string, reason string"
_STATE_ARROW = pa.schema(
    [
        ("n", pa.int64()),
        ("time_s", pa.int64()),
        ("line", pa.int64()),
        ("expected", pa.string()),
        ("got", pa.string()),
        ("reason", pa.string()),
    ]
)


def compare_run(spark: SparkSession, answers: Answers, folder: Path) -> Verdict:
    """Compare one run with the expected answers.

    Equal means: the run read as many rows and let as many pass; every passed row is answered exactly once and
    in order; the state after every drop-off instant is equal by `replay.state_rule`; and the output rows are
    the same, one by one, as the engine works in file order.

    Args:
        spark: Session.
        answers: The expected answers.
        folder: Folder with results.csv, states.jsonl, tops.csv and summary.json.

    Raises:
        DataError: A file is missing or malformed; the sentence names the file and the line.
    """
    for name in (RESULTS, STATES, TOPS, SUMMARY):
        if not (folder / name).is_file():
            raise DataError(f"{folder / name}: no such file")
    with reading(folder):
        differences = _summary_differences(answers, folder)
        results = read_results(spark, folder).persist()
        answered = results.count()
        differences += _result_differences(spark, answers, results, folder)
        differences += _state_differences(answers, read_states(spark, folder), folder)
        differences += _top_differences(answers, read_tops(spark, folder))
        results.unpersist()
    summary = answers.summary
    return Verdict(
        rows_answered=answered,
        rows_expected=summary.valid,
        instants=summary.instants,
        output_rows=summary.output_rows,
        differences=earliest_first(differences),
    )


def _summary_differences(answers: Answers, folder: Path) -> list[Difference]:
    document = read_json(folder / SUMMARY)
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


def _result_differences(
    spark: SparkSession, answers: Answers, results: DataFrame, folder: Path
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
        .when(F.col("n") < F.col("_highest"), "order")
    )
    number = F.coalesce("row", "n")
    found = _first_by_kind(
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


def _state_differences(answers: Answers, states: DataFrame, folder: Path) -> list[Difference]:
    states = states.persist()
    malformed = states.where("n is null or state is null").orderBy("line").first()
    if malformed is not None:
        raise DataError(
            f"{folder / STATES}: line {malformed['line']} is no JSON object with n and state: "
            f"{malformed['text'][:80]}"
        )
    expected = answers.instants.select(F.col("line").alias("row"), "time_s", "routes", "counts", "tied")
    joined = expected.join(states, F.col("row") == F.col("n"), "left").select(
        F.col("row").alias("n"), "time_s", "line", "routes", "counts", "tied", "state"
    )
    compared = joined.mapInArrow(_compare_batches, _STATE_DIFFERENCE).withColumn("kind", F.lit("state"))
    found = _first_by_kind(compared, "line", "time_s", "expected", "got", "reason")
    states.unpersist()
    return [
        Difference(
            "state",
            count,
            STATES,
            first["line"],
            first["n"],
            clock(first["time_s"]),
            first["expected"],
            first["got"],
            first["reason"],
        )
        for _, count, first in found
    ]


def _compare_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Keep the rows whose state differs, with both states and the reason (runs in Spark's Python workers)."""
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            expected = list(zip(row["routes"], row["counts"], strict=True))
            place = {"n": row["n"], "time_s": row["time_s"], "line": row["line"], "expected": shown(expected)}
            if row["state"] is None:
                rows.append({**place, "got": "none", "reason": "the state after this instant is missing"})
                continue
            got = json.loads(row["state"])
            if not is_state(got):
                rows.append({**place, "got": row["state"], "reason": "not a list of route and count"})
                continue
            reason = difference(expected, row["tied"], got)
            if reason is not None:
                rows.append({**place, "got": shown(got), "reason": reason})
        yield pa.RecordBatch.from_pylist(rows, schema=_STATE_ARROW)


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
        for _, count, first in _first_by_kind(differing, "line", "position", "time_s", "row", "text")
    ]


def _first_by_kind(differing: DataFrame, *columns: str) -> list[tuple[str, int, Row]]:
    """Return per kind how many rows there are, and the first of them by row number, then by line."""
    order = F.struct(F.coalesce("n", F.lit(2**62)), F.coalesce("line", F.lit(0)))
    grouped = differing.groupBy("kind").agg(
        F.count("*").alias("found"), F.min_by(F.struct("n", *columns), order).alias("first")
    )
    return [(row["kind"], row["found"], row["first"]) for row in grouped.collect()]
