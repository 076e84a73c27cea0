"""How often in a row the source has begun an epoch without getting any further."""

from __future__ import annotations

MOST_WAIT_S = 60.0
"""Waits are doubled with each try in vain, to at most this (or where they began)."""

_MOST_DOUBLINGS = 30
_LEAP_MS = 1_000
_MOST_LEAPS = 10


class Tries:
    """Epochs in a row that led no further than the ones before.

    Attributes:
        count: How many.
    """

    def __init__(self) -> None:
        self.count = 0

    def wait_s(self, least_s: float) -> float:
        """Return how long to wait before the next one, seconds, when the first one waits `least_s`."""
        return min(least_s * 2.0 ** min(self.count, _MOST_DOUBLINGS), max(least_s, MOST_WAIT_S))

    @property
    def leap(self) -> int:
        """By how much the next epoch's number has to rise, besides one.

        Bolts may remember epochs that neither Redis nor its clock knows of any more; each try in vain looks
        four times as far ahead, milliseconds.
        """
        return _LEAP_MS * 4 ** min(self.count, _MOST_LEAPS) if self.count else 0
