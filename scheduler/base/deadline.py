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
        clock: Returns the present moment in seconds, such as ``time.monotonic``; it never goes back.
        at: The moment, on the same clock, from which work has to end.
    """

    clock: Callable[[], float]
    at: float

    def expired(self) -> bool:
        """Return whether work has to end now."""
        return self.clock() >= self.at

    def reason(self) -> str | None:
        """Return why a search has to end now; None while it may go on."""
        return "the deadline ended the search" if self.expired() else None

    @property
    def unlimited(self) -> bool:
        """Whether it never comes, so that work has to end by itself."""
        return self.at == math.inf

    def otherwise(self, most: float) -> float:
        """Return a limit of work that counts only if the deadline never comes; infinite if it comes."""
        return most if self.unlimited else math.inf

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0; infinite if it never comes."""
        return math.inf if self.unlimited else max(0.0, self.at - self.clock())

    def within(self, seconds: float) -> Deadline:
        """Return the sooner of this deadline and the moment so many seconds from now.

        The deadline that never comes has no clock to count on: it stays as it is.
        """
        return self if self.unlimited else Deadline(self.clock, min(self.at, self.clock() + seconds))

    def share(self, share: float) -> Deadline:
        """Return the moment at which a share, 0 to 1, of the time that is left will have passed."""
        return self.within(share * self.remaining())

    def or_when(self, cancelled: Callable[[], bool]) -> Deadline:
        """Return the same moment, sooner if `cancelled` returns True; it is asked whenever this one is."""
        return _Cancellable(self.clock, self.at, cancelled)

    @staticmethod
    def none() -> Deadline:
        """Return the deadline that never comes."""
        return NO_DEADLINE


@dataclass(frozen=True)
class _Cancellable(Deadline):
    cancelled: Callable[[], bool]

    def expired(self) -> bool:
        return self.cancelled() or super().expired()

    def within(self, seconds: float) -> Deadline:
        return super().within(seconds).or_when(self.cancelled)


NO_DEADLINE = Deadline(_stopped_clock, math.inf)
"""The deadline that never comes."""
