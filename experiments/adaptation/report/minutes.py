"""The response time minute by minute, for scenarios in which nothing lasting happens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.adaptation.report.finished_scenario import ScenarioData


@dataclass(frozen=True)
class Minute:
    """One minute of a scenario.

    Attributes:
        number: From 1.
        rows: Rows that came in it.
        lost: Those without result.
        median_ms: Median response time of those with one; None if there is none.
        p95_ms: 95th percentile likewise.
        longest_ms: Longest likewise.
        moves: Moves.
    """

    number: int
    rows: int
    lost: int
    median_ms: float | None
    p95_ms: float | None
    longest_ms: float | None
    moves: int


def find_minutes(scenario: ScenarioData) -> tuple[Minute, ...]:
    """Cut a scenario into minutes; the last one may be shorter."""
    found = []
    for number in range(math.ceil((scenario.end_s - scenario.start_s) / 60.0)):
        start_s = scenario.start_s + 60.0 * number
        end_s = min(start_s + 60.0, scenario.end_s)
        rows = scenario.rows
        times_ms = rows.response_ms[(rows.available_s >= start_s) & (rows.available_s < end_s)]
        answered = times_ms[np.isfinite(times_ms)]
        median, p95, longest = np.percentile(answered, (50, 95, 100)) if len(answered) else (None,) * 3
        found.append(
            Minute(
                number=number + 1,
                rows=len(times_ms),
                lost=len(times_ms) - len(answered),
                median_ms=median if median is None else float(median),
                p95_ms=p95 if p95 is None else float(p95),
                longest_ms=longest if longest is None else float(longest),
                moves=sum(start_s <= move.time_s < end_s for move in scenario.moves),
            )
        )
    return tuple(found)
