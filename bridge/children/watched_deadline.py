"""A deadline under watch: whether the clock may have changed what a search found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scheduler.base.deadline import Deadline


class Watch:
    """Watches a deadline and all sooner ones made from it.

    Args:
        deadline: The deadline.

    Attributes:
        deadline: The same moment, under watch.
    """

    def __init__(self, deadline: Deadline) -> None:
        self.deadline: Deadline = _WatchedDeadline(deadline.clock, deadline.at, self)
        self._noted = False
        self._soonest_asked = math.inf

    @property
    def cut(self) -> bool:
        """Whether one was seen to have expired, or has passed since its remaining time was asked for."""
        return self._noted or self.deadline.clock() >= self._soonest_asked

    def note(self) -> None:
        """Note a cut."""
        self._noted = True

    def note_asked(self, at: float) -> None:
        """Note that the search asked how much time remains until a moment, and may work so long."""
        self._soonest_asked = min(self._soonest_asked, at)


@dataclass(frozen=True)
class _WatchedDeadline(Deadline):
    watch: Watch

    def expired(self) -> bool:
        expired = super().expired()
        if expired:
            self.watch.note()
        return expired

    def remaining(self) -> float:
        self.watch.note_asked(self.at)
        return super().remaining()

    def within(self, seconds: float) -> Deadline:
        inner = super().within(seconds)
        return _WatchedDeadline(inner.clock, inner.at, self.watch)
