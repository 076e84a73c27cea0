"""What a run came to for one query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to for one query.

    Attributes:
        run: Id of the run.
        query: The query, `1` or `2`.
        rows: Rows fed.
        passed: Rows that count; None without the run's end, as not all rows are judged then.
        rejected: Rows turned away; None likewise.
        reasons: Rows turned away, by reason.
        results: Rows that count and are in the files.
        tops: Changes of the ten best.
        instants: Drop-off instants with a state.
        epochs: How many times the source began or began again.
        replayed: Rows that were sent again, to rebuild windows or after a loss.
        fast_rows: Rows before the paced ones.
        rate_per_s: Rate of the paced rows; 0 when there were none.
        semantics: How the query was read, each choice by its name.
        faults: Sentences on what is missing or wrong; none in a good run.
    """

    run: str
    query: str
    rows: int
    passed: int | None
    rejected: int | None
    reasons: dict[str, int]
    results: int
    tops: int
    instants: int
    epochs: int
    replayed: int
    fast_rows: int
    rate_per_s: float
    semantics: dict[str, str]
    faults: tuple[str, ...]
