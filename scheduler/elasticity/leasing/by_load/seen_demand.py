"""What was seen of a component's demand, and where it leads: by its trend, and by what is usual."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scheduler.elasticity.leasing.by_load.usual import SLOT_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.usual import Usual

_LEAST_SEEN = 3
"""Moments from which on there is a trend."""
_MOST_RISE = 2.0
"""Times the highest demand that was seen: what leads further is no trend but a jump that has happened."""


class _Read(NamedTuple):
    """What is read off moments.

    Attributes:
        peak: Highest demand of those that are kept, items per second.
        kept_s: (n,) when these were, s.
        slope: Of the trend, by which demand rises per second.
        trend_mean: Mean of the demand that it is of.
        trend_at_s: Mean of the times of that, s.
    """

    peak: float
    kept_s: tuple[float, ...]
    slope: float
    trend_mean: float
    trend_at_s: float


@dataclass(frozen=True, eq=False)
class SeenDemand:
    """Demand of a component over the last minutes; how far back it counts is in the policy's parameters.

    Attributes:
        moments: (n, 2) times, s, and demand, items per second, the oldest first; at least one.
        parameters: Of the policy.
    """

    moments: Sequence[tuple[float, float]]
    parameters: SizedParameters

    @property
    def peak(self) -> float:
        """The highest demand of the last `keep_peak_s`, items per second."""
        return self._read.peak

    @property
    def slope(self) -> float:
        """By how much the demand of the last `trend_s` rises per second: 0 if little was seen, or it falls.

        It is that of the older or the newer half, whichever is less: after a jump one of them is level.
        """
        return self._read.slope

    def coming(self, ahead_s: float) -> float:
        """Return where a steady rise leads, items per second, at most twice the peak; 0 without one.

        Args:
            ahead_s: How far after the last moment, s.
        """
        read = self._read
        if not read.slope:
            return 0.0
        on = read.slope * (self.moments[-1][0] + ahead_s - read.trend_at_s)
        return min(_MOST_RISE * read.peak, read.trend_mean + on)

    def carried_on(self, ahead_s: float, usual: Usual) -> float | None:
        """Return the demand to provide for by what is usual; None if that is not known.

        The peak, times the highest that is usual from now on over the highest that was usual then. It is no
        less than what comes now, whatever is usual, and at most twice the peak.

        Args:
            ahead_s: From the last moment on, s.
            usual: What is usual, up to a factor.
        """
        rise = _rise(self._read.kept_s, ahead_s, usual)
        return None if rise is None else max(self.moments[-1][1], self.peak * min(_MOST_RISE, rise))

    @cached_property
    def _read(self) -> _Read:
        at_s, demand = zip(*self.moments, strict=True)
        kept = bisect_left(at_s, at_s[-1] - self.parameters.keep_peak_s)
        trending = bisect_left(at_s, at_s[-1] - self.parameters.trend_s)
        slope = 0.0
        many = len(at_s) - trending
        if many >= 2 * _LEAST_SEEN:
            middle = trending + many // 2
            slope = max(0.0, _slope(at_s[middle:], demand[middle:]))
            if slope:
                older = slice(trending, middle + 1)
                slope = max(0.0, min(slope, _slope(at_s[older], demand[older])))
        return _Read(
            max(demand[kept:]), at_s[kept:], slope, sum(demand[trending:]) / many, sum(at_s[trending:]) / many
        )


@lru_cache(maxsize=64)
def _rise(kept_s: tuple[float, ...], ahead_s: float, usual: Usual) -> float | None:
    """Return the highest that is usual from now on over the highest that was; None if that is not known.

    It is the same for all components of a topology that were seen at the same moments.

    Args:
        kept_s: (n,) moments that count, s, up to now.
        ahead_s: From now on, s.
        usual: What is usual, up to a factor.
    """
    steps = int(2.0 * ahead_s / SLOT_S) + 1
    ahead = (kept_s[-1] + k * (ahead_s / steps) for k in range(steps + 1))
    was, will_be = usual.at(kept_s), usual.at(ahead)
    if any(math.isnan(each) for each in (*was, *will_be)) or max(was) <= 0.0:
        return None
    return max(will_be) / max(was)


def _slope(at_s: tuple[float, ...], demand: tuple[float, ...]) -> float:
    """Return the slope per second of the straight line through what was seen at some times (n,)."""
    off_s, spread = _offsets(at_s)
    mean = sum(demand) / len(demand)
    return sum(off * (value - mean) for off, value in zip(off_s, demand, strict=True)) / spread


@lru_cache(maxsize=64)
def _offsets(at_s: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """Return how far times (n,) are from their mean, s, and the sum of the squares of that."""
    mean = sum(at_s) / len(at_s)
    off_s = tuple(at - mean for at in at_s)
    return off_s, sum(off**2 for off in off_s)
