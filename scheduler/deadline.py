"""When to stop: the caller supplies the clock, the core only asks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _stopped_clock() -> float:
    return 0.0


@dataclass(frozen=True)
class Deadline:
    """A moment on a clock of the caller's choice.

    Attributes:
        clock: Returns the present moment, such as ``time.monotonic``; it never goes back.
        at: The moment, on the same clock, from which work has to end.
    """

    clock: Callable[[], float]
    at: float

    def expired(self) -> bool:
        """Return whether work has to end now."""
        return self.clock() >= self.at

    @staticmethod
    def none() -> Deadline:
        """Return the deadline that never comes."""
        return Deadline(_stopped_clock, math.inf)
