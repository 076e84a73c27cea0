"""What ends a search: criteria that compose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scheduler.base.deadline import Deadline


class Stop(Protocol):
    """A criterion, such as a `Deadline`."""

    def reason(self) -> str | None:
        """Return why the search has to end now, in one sentence; None while it may go on."""


class AnyOf:
    """Ends a search with the first of some criteria that does; they are asked in this order."""

    def __init__(self, *criteria: Stop) -> None:
        self._criteria = criteria

    def reason(self) -> str | None:
        """Return the first reason of any of them."""
        return next((why for each in self._criteria if (why := each.reason()) is not None), None)


class WorkLimit:
    """Ends a search after an amount of work, which is the same on every machine.

    Args:
        most: The amount; may be infinite.
        unit: What is counted, in the plural.
    """

    def __init__(self, most: float, unit: str) -> None:
        self._most = most
        self._unit = unit
        self._done = 0

    def add(self, amount: int) -> None:
        """Count work."""
        self._done += amount

    def reason(self) -> str | None:
        """Return a reason once that much work is done."""
        return f"{self._done} {self._unit} ended the search" if self._done >= self._most else None


class NoImprovement:
    """Ends a search after so many iterations in a row without a better placement; None means never."""

    def __init__(self, patience: int | None, unit: str) -> None:
        self._patience = math.inf if patience is None else patience
        self._unit = unit
        self._idle = 0

    def note(self, *, improved: bool) -> None:
        """Count an iteration."""
        self._idle = 0 if improved else self._idle + 1

    def reason(self) -> str | None:
        """Return a reason once patience is at its end."""
        if self._idle < self._patience:
            return None
        return f"{self._idle} {self._unit} without a better placement ended the search"


class Iterations:
    """Ends a search at its deadline or, with patience, after so many iterations without a better placement.

    With neither of them nothing else would end the search, and a single iteration is made.
    """

    def __init__(self, deadline: Deadline, patience: int | None, unit: str = "iterations") -> None:
        self._idle = NoImprovement(patience, unit)
        self._count = WorkLimit(deadline.otherwise(1) if patience is None else math.inf, unit)
        self._any = AnyOf(self._idle, self._count, deadline)

    def note(self, *, improved: bool) -> None:
        """Count an iteration."""
        self._idle.note(improved=improved)
        self._count.add(1)

    def reason(self) -> str | None:
        """Return why the search has to end now; None while it may go on."""
        return self._any.reason()
