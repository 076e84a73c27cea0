"""Moves: rounds that gave the query new slots after it had been placed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.adaptation.report.kept import PlannedRound

Reason = Literal["gain", "lost executors"]

LONGEST_PAUSE_S = 60.0
"""Nimbus asks every 10 s. After a longer time without a round it is not known what happened in it."""


@dataclass(frozen=True)
class Move:
    """A round that gave the query new slots.

    Attributes:
        time_s: Unix time at which the round began.
        reason: `gain`: the plan saves a part of the objective; `lost executors`: it places executors that
            had lost their workers, which waits for no threshold.
        executors: Executors that got another host.
        workers: Workers that end or restart.
        gain: Fraction of the objective.
        plan_ms: Time for planning.
        before_ms: R of the last round before that evaluated one, ms.
        after_ms: R that is expected of the move, ms.
        status: The query's status line.
    """

    time_s: float
    reason: Reason
    executors: int
    workers: int
    gain: float
    plan_ms: float
    before_ms: float | None
    after_ms: float | None
    status: str


def find_moves(rounds: Sequence[PlannedRound], path: Path) -> tuple[Move, ...]:
    """Return the rounds that gave new slots after the first one that did.

    Raises:
        DataError: No round gave the query slots.
    """
    placed = [number for number, each in enumerate(rounds) if each.assigned]
    if not placed:
        raise DataError(f"{path}: no round gave the query slots")
    return tuple(_move(rounds, number) for number in placed[1:])


def longest_pause_s(rounds: Sequence[PlannedRound], start_s: float, end_s: float) -> float:
    """Return the longest time between two rounds within a stretch of time, its ends included, s."""
    inside = sorted(each.time_s for each in rounds if start_s <= each.time_s <= end_s)
    moments = [start_s, *inside, end_s]
    return max(after - before for before, after in pairwise(moments))


def _move(rounds: Sequence[PlannedRound], number: int) -> Move:
    each = rounds[number]
    expected = [one.response_time_ms for one in rounds[:number] if one.response_time_ms is not None]
    return Move(
        time_s=each.time_s,
        reason="gain" if each.gain > 0 else "lost executors",
        executors=each.executors_moved,
        workers=each.workers_moved,
        gain=each.gain,
        plan_ms=each.plan_ms,
        before_ms=expected[-1] if expected else None,
        after_ms=each.response_time_ms,
        status=each.status,
    )
