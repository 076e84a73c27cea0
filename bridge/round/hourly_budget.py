"""What rounds may restart in any hour: what the last ones restarted is taken off what the next one may."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.round.memory import Memory
    from bridge.round.round_report import Round
    from bridge.settings import MoveSettings

HOUR_S = 3600.0


class HourlyBudget:
    """The budget of an hour in one round.

    Args:
        move: The daemon's settings of moves.
        memory: What the round before handed on.
        now_s: Time of the round, on the clock of the memory.

    Attributes:
        move: The settings of moves for this round.
    """

    def __init__(self, move: MoveSettings, memory: Memory, now_s: float) -> None:
        self._now_s = now_s
        self._recent = tuple(each for each in memory.restarts if now_s - each[0] < HOUR_S)
        self._counts = move.max_restarts_per_hour is not None
        self.move = move
        if move.max_restarts_per_hour is not None:
            left = max(move.max_restarts_per_hour - sum(number for _, number in self._recent), 0)
            most = min(move.max_restarts_per_round, left)
            self.move = move.model_copy(update={"max_restarts_per_round": most})

    def charged(self, done: Round) -> Round:
        """Return the round with what it restarts in its memory.

        Args:
            done: The round.
        """
        if not self._counts:
            return done
        own = ((self._now_s, done.restarts),) if done.restarts else ()
        return replace(done, memory=replace(done.memory, restarts=(*self._recent, *own)))
