"""What was seen of a component's demand, and where it leads: by its trend, and by what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from scheduler.elasticity.leasing.by_load.usual import SLOT_S

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.usual import Usual

_LEAST_SEEN = 3
"""Moments from which on there is a trend."""
_MOST_RISE = 2.0
"""Times the highest demand that was seen: what leads further is no trend but a jump that has happened."""
_Moments: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class SeenDemand:
    """Demand of a component over the last minutes; how far back it counts is in the policy's parameters.

    Attributes:
        moments: (n, 2) times, s, and demand, items per second, the oldest first; at least one.
        parameters: Of the policy.
    """

    moments: _Moments
    parameters: SizedParameters

    @cached_property
    def peak(self) -> float:
        """The highest demand of the last `keep_peak_s`, items per second."""
        return max(demand for _, demand in self._kept)

    @cached_property
    def slope(self) -> float:
        """By how much the demand of the last `trend_s` rises per second: 0 if little was seen.

        It is that of the older or the newer half, whichever is less: after a jump one of them is level.
        """
        seen = self._trending
        if len(seen) < 2 * _LEAST_SEEN:
            return 0.0
        middle = len(seen) // 2
        return min(_line(seen[: middle + 1])[1], _line(seen[middle:])[1])

    def coming(self, ahead_s: float) -> float:
        """Return where a steady rise leads, items per second, at most twice the peak; 0 without one.

        Args:
            ahead_s: How far after the last moment, s.
        """
        if self.slope <= 0.0:
            return 0.0
        mean, _, mean_t = self._trend
        return min(_MOST_RISE * self.peak, mean + self.slope * (self.moments[-1][0] + ahead_s - mean_t))

    def carried_on(self, ahead_s: float, usual: Usual) -> float | None:
        """Return the demand to provide for by what is usual; None if that is not known.

        The peak, times the highest that is usual from now on over the highest that was usual then. It is no
        less than what comes now, whatever is usual, and at most twice the peak.

        Args:
            ahead_s: From the last moment on, s.
            usual: What is usual, up to a factor.
        """
        rise = _rise(self._kept_s, ahead_s, usual)
        return None if rise is None else max(self.moments[-1][1], self.peak * min(_MOST_RISE, rise))

    @cached_property
    def _kept(self) -> _Moments:
        return self._of_last(self.parameters.keep_peak_s)

    @cached_property
    def _kept_s(self) -> tuple[float, ...]:
        return tuple(at_s for at_s, _ in self._kept)

    @cached_property
    def _trending(self) -> _Moments:
        return self._of_last(self.parameters.trend_s)

    @cached_property
    def _trend(self) -> tuple[float, float, float]:
        return _line(self._trending)

    def _of_last(self, seconds: float) -> _Moments:
        now_s = self.moments[-1][0]
        return [each for each in self.moments if now_s - each[0] <= seconds]


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
    ahead = kept_s[-1] + np.arange(steps + 1) * (ahead_s / steps)
    at = usual.at(np.concatenate((kept_s, ahead)))
    highest = float(at[: len(kept_s)].max())
    # NaN of any is that of the highest
    rise = float(at[len(kept_s) :].max()) / highest if highest > 0.0 else np.nan
    return None if np.isnan(rise) else rise


def _line(seen: _Moments) -> tuple[float, float, float]:
    """Return mean, slope per second and mean time of the straight line through what was seen."""
    mean_t = sum(at for at, _ in seen) / len(seen)
    mean_v = sum(value for _, value in seen) / len(seen)
    spread = sum((at - mean_t) ** 2 for at, _ in seen)
    slope = sum((at - mean_t) * (value - mean_v) for at, value in seen) / spread
    return mean_v, slope, mean_t
