"""How long is searched: until a deadline, until so much work is done, or while it helps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.base.deadline import Deadline


class OutOfTimeError(Exception):
    """The deadline has come before tables were complete; what they were for has to be left out."""


def require_time(deadline: Deadline) -> None:
    """Go on only if there is time left.

    For loops that build tables over all links: half a table is of no use, and each takes seconds on large
    networks.

    Raises:
        OutOfTimeError: The deadline has expired.
    """
    if deadline.expired():
        raise OutOfTimeError


class Work:
    """An amount of work, and a deadline. Proofs count partial placements times nodes.

    The amount ends a search after the same steps on every machine; the deadline does not.
    """

    def __init__(self, deadline: Deadline, most: float) -> None:
        """Begin to count.

        Args:
            deadline: When to stop.
            most: After how much work to stop; may be infinite.
        """
        self.deadline = deadline
        self.most = most
        self.done = 0

    def add(self, amount: int) -> None:
        """Count work."""
        self.done += amount

    def over(self) -> bool:
        """Return whether it is time to stop."""
        return self.reason() is not None

    def reason(self) -> str | None:
        """Return why a search has to end now; None while it may go on."""
        return "the limit of work ended the search" if self.done > self.most else self.deadline.reason()


class Iterations:
    """Ends a search at its deadline or, with patience, after so many iterations without a better placement.

    With neither of them nothing else would end the search, and a single iteration is made.
    """

    def __init__(self, deadline: Deadline, patience: int | None, unit: str = "iterations") -> None:
        self._patience = math.inf if patience is None else patience
        self._unit = unit
        self._idle = 0
        self._work = Work(deadline, deadline.otherwise(0) if patience is None else math.inf)

    def note(self, *, improved: bool) -> None:
        """Count an iteration."""
        self._idle = 0 if improved else self._idle + 1
        self._work.add(1)

    def reason(self) -> str | None:
        """Return why the search has to end now, in one sentence; None while it may go on."""
        if self._idle < self._patience:
            return self._work.reason()
        return f"{self._idle} {self._unit} without a better placement ended the search"
