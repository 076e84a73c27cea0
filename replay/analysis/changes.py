"""Before and after: how response times differ between runs, or between the two sides of a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.analysis.latency import measure
from replay.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from replay.analysis.latency import Distribution, Latency
    from replay.analysis.runs import Query, QueryRun

FIGURES = (50, 90, 95, 99)


@dataclass(frozen=True)
class Change:
    """Response times end to end before and after.

    Attributes:
        query: Which query.
        before_name: Run, or side of the moment.
        after_name: Likewise.
        before: Response times before.
        after: Response times after.
    """

    query: Query
    before_name: str
    after_name: str
    before: Distribution
    after: Distribution

    def document(self) -> dict[str, Any]:
        """Return the change as JSON values: `factor` is after / before, null where before is 0."""
        figures = {}
        for percent in FIGURES:
            old, new = self.before.percentile_ms(percent), self.after.percentile_ms(percent)
            figures[f"p{percent}"] = {"before_ms": old, "after_ms": new, "factor": new / old if old else None}
        old, new = self.before.mean_ms, self.after.mean_ms
        figures["mean"] = {"before_ms": old, "after_ms": new, "factor": new / old if old else None}
        return {
            "query": self.query,
            "before": self.before_name,
            "after": self.after_name,
            "rows": [self.before.count, self.after.count],
            "figures": figures,
        }


@dataclass(frozen=True)
class Split:
    """A moment that cuts a run in two.

    Attributes:
        text: As it was given.
        unix_s: Unix time, None if it is relative.
        after_s: Seconds after the first measured row, None if it is a unix time.
    """

    text: str
    unix_s: float | None = None
    after_s: float | None = None


def read_split(text: str) -> Split:
    """Read a moment: seconds after the first measured row, or a time such as `2026-11-21T23:00:00Z`.

    Raises:
        ValueError: It is neither; the message says what is expected.
    """
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(
                f"{text!r} is neither a number of seconds nor a time such as 2026-11-21T23:00:00Z"
            ) from None
        return Split(text, unix_s=(moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    if not 0.0 < seconds < float("inf"):
        raise ValueError(f"{text} s is not after the first row")
    return Split(text, after_s=seconds)


def between_runs(measured: list[tuple[QueryRun, Latency]]) -> list[Change]:
    """Compare each run with the first one that answered the same query."""
    found = []
    first: dict[Query, tuple[QueryRun, Latency]] = {}
    for run, latency in measured:
        if run.query not in first:
            first[run.query] = (run, latency)
            continue
        one, before = first[run.query]
        found.append(Change(run.query, one.run, run.run, before.end_to_end, latency.end_to_end))
    return found


def around(run: QueryRun, rows: DataFrame, split: Split) -> Change:
    """Compare the measured rows that were available before a moment with the others.

    Args:
        run: The run.
        rows: As from `replay.analysis.runs.answered_rows`.
        split: The moment.

    Raises:
        DataError: One side has no row.
    """
    measured = rows.where("measured")
    if split.unix_s is not None:
        moment_ms = split.unix_s * 1000
    else:
        first = measured.agg(F.min("row_ms").alias("first")).collect()[0]["first"]
        moment_ms = first + (split.after_s or 0.0) * 1000
    sides = {
        "before": measure(measured.where(F.col("row_ms") < moment_ms), run.results),
        "after": measure(measured.where(F.col("row_ms") >= moment_ms), run.results),
    }
    before, after = sides["before"], sides["after"]
    if before is None or after is None:
        side = "before" if before is None else "after"
        raise DataError(f"{run.results}: no measured row was available {side} {split.text}")
    moment = split.text if split.after_s is None else f"{split.after_s:g} s"
    names = (f"{run.run} before {moment}", f"{run.run} after {moment}")
    return Change(run.query, *names, before.end_to_end, after.end_to_end)
