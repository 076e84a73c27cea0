"""The outcome of a comparison: equal, or what differs and where first; per query and for a whole run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One way in which a run of the stream differs from the expected answers, at its first occurrence.

    Attributes:
        kind: `rows`, `missing`, `extra`, `repeated`, `order`, `state` or `top`.
        count: How often it occurs.
        file: File of the run.
        line: Line in that file; None if a line is missing.
        row: Row (line) of the taxi file; None if the difference belongs to none.
        instant: Drop-off time of that row, `YYYY-MM-DD HH:MM:SS`; None if unknown.
        expected: What should be there.
        got: What is there.
        reason: One sentence.
    """

    kind: str
    count: int
    file: str
    line: int | None
    row: int | None
    instant: str | None
    expected: str
    got: str
    reason: str

    def sentence(self) -> str:
        """Return the difference as one sentence with its place."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        row = "" if self.row is None else f", row {self.row}"
        instant = "" if self.instant is None else f", instant {self.instant}"
        more = "" if self.count == 1 else f" ({self.count:,} in all)"
        return f"{place}{row}{instant}: {self.reason}; expected {self.expected}, got {self.got}{more}"


@dataclass(frozen=True)
class Verdict:
    """Whether a run's answers to one query are right.

    Attributes:
        rows_answered: Lines of results.csv.
        rows_expected: Rows that pass the filter.
        instants: Drop-off instants whose state was compared.
        output_rows: Rows of the challenge's output that were expected.
        differences: One entry per kind of difference, the earliest row first; empty if equal.
    """

    rows_answered: int
    rows_expected: int
    instants: int
    output_rows: int
    differences: tuple[Difference, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    @property
    def first(self) -> Difference | None:
        """The difference at the earliest row, None if equal."""
        return self.differences[0] if self.differences else None


@dataclass(frozen=True)
class RunVerdict:
    """Whether all answers of a run are right.

    Attributes:
        by_query: A verdict for each query that the run answered.
    """

    by_query: dict[int, Verdict]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return all(verdict.equal for verdict in self.by_query.values())

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All differences, query by query."""
        return tuple(each for _, verdict in sorted(self.by_query.items()) for each in verdict.differences)

    @property
    def first(self) -> Difference | None:
        """The first difference of the first query that differs, None if equal."""
        return self.differences[0] if self.differences else None

    def document(self) -> dict[str, Any]:
        """Return the verdict as JSON values, with `equal`, a sentence per difference and figures by query."""
        queries = {}
        for query, verdict in sorted(self.by_query.items()):
            figures = asdict(verdict)
            del figures["differences"]
            queries[str(query)] = {"equal": verdict.equal, **figures}
        differences = [{**asdict(each), "sentence": each.sentence()} for each in self.differences]
        return {"equal": self.equal, "queries": queries, "differences": differences}


def earliest_first(differences: list[Difference]) -> tuple[Difference, ...]:
    """Return differences in the order of their rows; those that belong to no row come last."""
    return tuple(sorted(differences, key=lambda each: (each.row is None, each.row or 0, each.kind)))


def clock(time_s: int | None) -> str | None:
    """Return seconds since 1970 as the data write times, None for None."""
    return None if time_s is None else f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%d %H:%M:%S}"
