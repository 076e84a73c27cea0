"""The states of a run beside the expected ones: one after each drop-off instant, no other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use
from pyspark.sql.pandas.types import from_arrow_schema

from replay.compare.differences import first_by_kind
from replay.compare.rank_rule import (
    AREAS,
    ROUTES,
    area_rank,
    difference,
    parse_areas,
    parse_routes,
    route_rank,
    show,
)
from replay.compare.running import with_previous_max
from replay.compare.verdict import Difference, clock
from replay.errors import DataError
from replay.expected.query1 import STATE_RANKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from replay.compare.expected_folder import Answers

_COLUMNS = {1: ("routes", "counts", "tied"), 2: ("areas", "empty", "medians", "profitabilities")}
_DIFFERENCE = pa.schema(
    [
        *((name, pa.int64()) for name in ("n", "time_s", "line")),
        *((name, pa.string()) for name in ("expected", "got", "reason")),
    ]
)


def state_differences(
    spark: SparkSession, answers: Answers, states: DataFrame, path: Path, *, free_ties: bool
) -> list[Difference]:
    """Find instants without a state, states that are wrong, and states beside those of the instants.

    Args:
        spark: Session.
        answers: The expected answers.
        states: As of `replay.stream_files.read_states`.
        path: Their file.
        free_ties: See `replay.compare.compare.compare_run`.

    Raises:
        DataError: A line is malformed.
    """
    states = states.persist()
    malformed = states.where("n is null or state is null").orderBy("line").first()
    if malformed is not None:
        raise DataError(
            f"{path}: line {malformed['line']} is no JSON object with n and state: {malformed['text'][:80]}"
        )
    ordered = with_previous_max(spark, states, order="line", value="n", into="_highest")
    expected = answers.instants.select(F.col("line").alias("row"), "time_s", *_COLUMNS[answers.query])
    joined = expected.join(ordered, F.col("row") == F.col("n"), "full_outer").select(
        F.coalesce("row", "n").alias("n"),
        F.col("row").isNotNull().alias("due"),
        (F.col("n") <= F.col("_highest")).alias("again"),
        "time_s",
        "line",
        "state",
        *_COLUMNS[answers.query],
    )
    compared = joined.mapInArrow(
        _Comparison(answers.query, free_ties), from_arrow_schema(_DIFFERENCE)
    ).withColumn("kind", F.lit("state"))
    found = first_by_kind(compared, "line", "time_s", "expected", "got", "reason")
    states.unpersist()
    return [
        Difference(
            "state",
            count,
            path.name,
            first["line"],
            first["n"],
            clock(first["time_s"]),
            first["expected"],
            first["got"],
            first["reason"],
        )
        for _, count, first in found
    ]


@dataclass(frozen=True)
class _Comparison:
    """What `mapInArrow` calls: keeps what differs, with both states and the reason."""

    query: int
    free_ties: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                expected, got, reason = self._judge(row)
                if reason is not None:
                    place = {name: row[name] for name in ("n", "time_s", "line")}
                    rows.append({**place, "expected": expected, "got": got, "reason": reason})
            yield pa.RecordBatch.from_pylist(rows, schema=_DIFFERENCE)

    def _judge(self, row: dict[str, Any]) -> tuple[str, str, str | None]:
        """Return what is expected, what is there, and how it differs, if it does."""
        if not row["due"]:
            return "none", row["state"], "there is a state although no instant ends with this row"
        if row["again"]:
            reason = "a state comes a second time, or after that of a later row"
            return "rising row numbers", "an earlier row", reason
        columns = zip(*(row[name] for name in _COLUMNS[self.query] if name != "tied"), strict=True)
        if self.query == 1:
            words, parse, tied = ROUTES, parse_routes, row["tied"]
            form, expected = "route and count", [route_rank(*each) for each in columns]
        else:
            words, parse, tied = AREAS, parse_areas, ()
            form, expected = (
                "area, empty taxis, median and profitability",
                [area_rank(*each) for each in columns],
            )
        shown = show(words, expected[:STATE_RANKS])
        if row["state"] is None:
            return shown, "none", "the state after this instant is missing"
        got = parse(json.loads(row["state"]))
        if got is None:
            return shown, row["state"], f"not a list of {form}"
        return shown, show(words, got), difference(words, expected, got, free_ties=self.free_ties, tied=tied)
