"""What ends a search by iterations: its deadline, or patience. Other criteria are `Deadline` and `Work`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.base.work import Work

if TYPE_CHECKING:
    from scheduler.base.deadline import Deadline


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
