"""What came lately, by event time."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Generic, TypeVar

Held = TypeVar("Held", bound=tuple[Any, ...])


class EventWindow(Generic[Held]):
    """Base of what one share keeps for some time: what is exactly so old is out.

    Args:
        length_s: The time, seconds of event time.
        now_s: The query's clock, seconds; None: nothing has passed yet.
    """

    def __init__(self, length_s: int, now_s: int | None) -> None:
        self._length_s = length_s
        self._now_s = now_s
        self._held: deque[Held] = deque()  # oldest first, each with its time in front

    @property
    def now_s(self) -> int:
        """The time.

        Raises:
            ValueError: The clock was never set.
        """
        if self._now_s is None:
            raise ValueError("advance() must come first")
        return self._now_s

    def leaves_s(self) -> float:
        """Return when the next may leave by time, seconds of event time; infinite when there is none."""
        return self._held[0][0] + self._length_s if self._held else math.inf
