"""A point of the delay space of Vivaldi: a position with a height.

Source: F. Dabek, R. Cox, F. Kaashoek, R. Morris, "Vivaldi: a decentralized network coordinate system",
SIGCOMM 2004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MAX_ERROR = 1.5
"""Relative error of a host that knows nothing yet; no estimate gets worse than this."""

MAX_EXTENT_MS = 30_000.0
"""No honest coordinate is farther from the origin: half a minute one way is not a network."""

MAX_DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Position with height (Vivaldi, section 5.4).

    Attributes:
        position_ms: One number per dimension, in ms of one-way delay.
        height_ms: One-way delay of the host's access link, in ms; never negative.
        error: Estimated relative error of distances to this host, 0 to `MAX_ERROR`.
    """

    position_ms: tuple[float, ...]
    height_ms: float
    error: float

    def delay_ms(self, other: Coordinate) -> float:
        """Estimate the one-way delay to another host, in ms.

        Returns:
            Euclidean distance of the positions plus both heights (section 5.4).
        """
        return math.dist(self.position_ms, other.position_ms) + (self.height_ms + other.height_ms)

    def fault(self, dimensions: int) -> str:
        """Say what makes this coordinate unusable, in a few words; empty when nothing does.

        Args:
            dimensions: Number of dimensions that the reader works with.
        """
        if len(self.position_ms) != dimensions:
            return f"{len(self.position_ms)} dimensions instead of {dimensions}"
        if not all(map(math.isfinite, (*self.position_ms, self.height_ms, self.error))):
            return "a number is not finite"
        if max(map(abs, self.position_ms)) > MAX_EXTENT_MS or self.height_ms > MAX_EXTENT_MS:
            return f"farther than {MAX_EXTENT_MS:.0f} ms from the origin"
        if self.height_ms < 0:
            return "negative height"
        if not 0 <= self.error <= MAX_ERROR:
            return f"error outside 0 to {MAX_ERROR}"
        return ""


def origin(dimensions: int, height_ms: float) -> Coordinate:
    """Return the coordinate of a host that has measured nothing yet."""
    return Coordinate((0.0,) * dimensions, height_ms, MAX_ERROR)
