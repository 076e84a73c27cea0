"""What moves were predicted to cost in time, and what they did cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.adaptation.report.kept import PlannedRound
    from experiments.adaptation.report.moves import Move
    from experiments.replacement.cluster.measured_moves import MeasuredMove
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
        measured: What the daemon measured of it; None where it did not.
        silent_s: Longest time without a result from the move on: what users see.
    """

    move: Move
    at_s: float
    planned: PlannedRound
    measured: MeasuredMove | None
    silent_s: float

    @property
    def predicted_s(self) -> float | None:
        """Pause that the daemon expected; None if it expected none."""
        return self.planned.pause_s

    @property
    def source(self) -> str | None:
        """What the prediction rests on; None if there was none."""
        return self.planned.pause_source

    @property
    def worked_s(self) -> float | None:
        """Time from the plan until its executors worked, as the daemon measured it; None where it did not."""
        if self.measured is None or self.measured.pause_until != "work":
            return None
        return self.measured.pause_s.measured

    @property
    def ran_s(self) -> float | None:
        """Time from the plan until the last of its workers ran, likewise."""
        if self.measured is None:
            return None
        ran_s = self.measured.workers_ran_s
        return self.measured.pause_s.measured if ran_s is None else ran_s

    @property
    def error(self) -> float | None:
        """How far the prediction is off, as a fraction of `silent_s`; None if there was none."""
        return _error(self.predicted_s, self.silent_s)

    @property
    def measured_error(self) -> float | None:
        """How far what the daemon measured is off, likewise."""
        return _error(self.worked_s, self.silent_s)


def _error(pause_s: float | None, silent_s: float) -> float | None:
    return None if pause_s is None or not silent_s else pause_s / silent_s - 1.0


def pauses(turn: TurnData) -> tuple[Pause, ...]:
    """Return the moves of a turn while tuples were measured."""
    planned = {each.time_s: each for each in turn.rounds}
    return tuple(
        Pause(
            move, move.time_s - turn.start_s, planned[move.time_s], _measured(turn, move), turn.pause_s(move)
        )
        for move in turn.moves
        if turn.start_s <= move.time_s <= turn.end_s
    )


def _measured(turn: TurnData, move: Move) -> MeasuredMove | None:
    """Return what the daemon measured; its log and its records name a round's time alike."""
    same = (each for each in turn.measured if abs(each.planned_unix_s - move.time_s) < _SAME_ROUND_S)
    return next(same, None)
