"""What moves were predicted to cost in time, and what they did cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.adaptation.report.kept import PlannedRound
    from experiments.adaptation.report.moves import Move
    from experiments.replacement.cluster.report.finished_turn import TurnData


@dataclass(frozen=True)
class Pause:
    """One move.

    Attributes:
        move: The round that moved.
        at_s: When, in seconds after the first measured tuple.
        planned: The same round with the prices that the daemon expected.
        measured_s: Longest time without a result from the move on.
    """

    move: Move
    at_s: float
    planned: PlannedRound
    measured_s: float

    @property
    def predicted_s(self) -> float | None:
        """Pause that the daemon expected; None if it expected none."""
        return self.planned.pause_s

    @property
    def error(self) -> float | None:
        """How far the prediction is off, as a fraction of what was measured."""
        if self.predicted_s is None or self.measured_s <= 0.0:
            return None
        return self.predicted_s / self.measured_s - 1.0


def pauses(turn: TurnData) -> tuple[Pause, ...]:
    """Return the moves of a turn while tuples were measured."""
    planned = {each.time_s: each for each in turn.rounds}
    return tuple(
        Pause(move, move.time_s - turn.start_s, planned[move.time_s], turn.pause_s(move))
        for move in turn.moves
        if turn.start_s <= move.time_s <= turn.end_s
    )


def pause_errors(found: Sequence[Pause]) -> list[float]:
    """Return the errors that are known."""
    return [each.error for each in found if each.error is not None]
