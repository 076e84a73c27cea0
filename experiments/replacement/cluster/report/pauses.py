"""What moves were predicted to cost in time, and what they did cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.adaptation.report.kept import PlannedRound
    from experiments.adaptation.report.moves import Move
    from experiments.replacement.cluster.report.finished_turn import TurnData

_SAME_ROUND_S = 1.0
"""Rounds are further apart."""


@dataclass(frozen=True)
class Pause:
    """One move.

    Attributes:
        move: The round that moved.
        at_s: When, in seconds after the first measured tuple.
        planned: The same round with the prices that the daemon expected.
        started_s: Time from the plan until the last of its workers ran, as the daemon measured it; None where
            it did not.
        silent_s: Longest time without a result from the move on.
    """

    move: Move
    at_s: float
    planned: PlannedRound
    started_s: float | None
    silent_s: float

    @property
    def predicted_s(self) -> float | None:
        """Pause that the daemon expected; None if it expected none."""
        return self.planned.pause_s

    @property
    def errors(self) -> tuple[float | None, float | None]:
        """How far the prediction is off, as a fraction of `started_s` and of `silent_s`; None if unknown."""
        return self._error(self.started_s), self._error(self.silent_s)

    def _error(self, measured_s: float | None) -> float | None:
        if self.predicted_s is None or not measured_s:
            return None
        return self.predicted_s / measured_s - 1.0


def pauses(turn: TurnData) -> tuple[Pause, ...]:
    """Return the moves of a turn while tuples were measured."""
    planned = {each.time_s: each for each in turn.rounds}
    return tuple(
        Pause(
            move, move.time_s - turn.start_s, planned[move.time_s], _started_s(turn, move), turn.pause_s(move)
        )
        for move in turn.moves
        if turn.start_s <= move.time_s <= turn.end_s
    )


def _started_s(turn: TurnData, move: Move) -> float | None:
    """Return the pause that the daemon measured; its log and its records name a round's time alike."""
    return next(
        (
            each.pause_s.measured
            for each in turn.measured
            if abs(each.planned_unix_s - move.time_s) < _SAME_ROUND_S
        ),
        None,
    )
