"""What arrival rates are usual at each time of the week, and how far the last ones were from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.base.checks import ModelError, number, whole_number

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray

_DAY_S = 86_400.0
_FIRST_NOISE = 0.1
_NOISE_RATE = 0.01
_RECENT = 12
"""Rates that are kept, of which older ones count for less."""


@dataclass(frozen=True, kw_only=True)
class SeasonParameters:
    """How a rate is forecast.

    Attributes:
        season_s: After which time rates come again, s; whole days (> 0).
        slot_s: For which time one mean is kept, s; a day has a whole number of them (> 0).
        recent_s: Age at which a rate counts 1/e of the last one for the level of now, s (> 0).
        fades_s: Time after which 1/e is left of the difference between now and what is usual, s (> 0).
        jump: A rate that is so many standard deviations off the forecast begins a new level (> 0).
    """

    season_s: float = 7 * _DAY_S
    slot_s: float = 900.0
    recent_s: float = 300.0
    fades_s: float = 3600.0
    jump: float = 4.0

    def __post_init__(self) -> None:
        for each in ("season_s", "slot_s", "recent_s", "fades_s", "jump"):
            number(each, getattr(self, each), above=0.0)
        if self.season_s % _DAY_S:
            raise ModelError("season_s", f"expected whole days of 86400 s, got {self.season_s:g}")
        if _DAY_S % self.slot_s:
            raise ModelError("slot_s", f"expected a whole number of them in a day, got {self.slot_s:g}")
        whole_number("slots", self.slots, 1)

    @property
    def slots(self) -> int:
        """Slots of a season."""
        return round(self.season_s / self.slot_s)


@dataclass(frozen=True, eq=False)
class Season:
    """What has been learned of a rate.

    Attributes:
        means: (slots,) mean rate of each slot; NaN: never seen.
        times: (slots,) how often each was seen.
        usual: (slots,) the same, where a slot was never seen that of the same time on other days; NaN: none.
        slot: Number of the slot, from 0 s on, that is being seen; None: nothing was seen yet.
        rates: Sum of the rates in it, and how many there are.
        recent: End, s, and rate of the last samples, the oldest first; since the last jump.
        noise: Variance of rates relative to their forecasts.
    """

    means: FloatArray
    times: FloatArray
    usual: FloatArray
    slot: int | None = None
    rates: tuple[float, int] = (0.0, 0)
    recent: tuple[tuple[float, float], ...] = ()
    noise: float = _FIRST_NOISE**2

    @classmethod
    def first(cls, parameters: SeasonParameters) -> Season:
        """Return what is known at the beginning."""
        unseen = frozen(np.full(parameters.slots, np.nan))
        return cls(unseen, frozen(np.zeros(parameters.slots)), unseen)

    def seen(self, until_s: float, rate: float, parameters: SeasonParameters) -> Season:
        """Return what is known after one more rate.

        Args:
            until_s: End of the interval that it is the mean of, s.
            rate: Tuples per second (>= 0).
            parameters: Of the forecast.
        """
        recent, noise = self.recent, self.noise
        if recent:
            expected = float(self.forecast(np.array([until_s]), parameters)[0])
            off = rate / expected - 1.0 if expected > 0.0 else math.copysign(math.inf, rate)
            if abs(off) > parameters.jump * math.sqrt(noise):
                recent = ()
            else:
                noise += _NOISE_RATE * (off * off - noise)
        recent = (*recent[1 - _RECENT :], (until_s, rate))
        # the end of an interval belongs to what is before it
        slot = math.ceil(until_s / parameters.slot_s) - 1
        known = self if slot == self.slot else self._folded(parameters)
        total, count = known.rates if slot == self.slot else (0.0, 0)
        after = replace(known, slot=slot, rates=(total + rate, count + 1), recent=recent, noise=noise)
        if "_sides" in vars(known):  # within a slot what is usual stays
            vars(after)["_sides"] = known._sides
        return after

    def _folded(self, parameters: SeasonParameters) -> Season:
        """Return what is known after a slot has been seen whole."""
        total, count = self.rates
        if self.slot is None or not count:
            return self
        at = self.slot % parameters.slots
        means, times = self.means.copy(), self.times.copy()
        times[at] += 1.0
        value = total / count
        means[at] = value if times[at] == 1.0 else means[at] + (value - means[at]) / times[at]
        by_day = means.reshape(-1, round(_DAY_S / parameters.slot_s))
        seen = ~np.isnan(by_day)
        of_day = np.where(seen, by_day, 0.0).sum(axis=0) / np.where(
            seen.any(axis=0), seen.sum(axis=0), np.nan
        )
        usual = np.where(seen, by_day, of_day).reshape(-1)
        return replace(self, means=frozen(means), times=frozen(times), usual=frozen(usual))

    def forecast(self, times_s: FloatArray, parameters: SeasonParameters) -> FloatArray:
        """Return the rates that are expected at some times (n,), tuples per second; 0 before any was seen.

        What is usual then, times the last rates over what was usual at theirs; the latter fades. Where
        nothing is usual yet the rate stays as it was.

        Args:
            times_s: (n,) times, s.
            parameters: Of the forecast.
        """
        if not self.recent:
            return np.zeros(len(times_s))
        level, base = _now(self, parameters)
        if not base > 0.0:
            return np.full(len(times_s), level)
        left = np.exp(-np.maximum(0.0, times_s - self.recent[-1][0]) / parameters.fades_s)
        expected = self.usually(times_s, parameters) * (1.0 + (level / base - 1.0) * left)
        return np.where(np.isnan(expected), level, expected)

    def usually(self, times_s: FloatArray, parameters: SeasonParameters) -> FloatArray:
        """Return what is usual at some times (n,), in straight lines between the middles of slots."""
        place = times_s / parameters.slot_s - 0.5
        before = np.floor(place)
        low, high = self._sides[:, before.astype(np.int64) % parameters.slots]
        between: FloatArray = low + (place - before) * (high - low)
        return between

    @cached_property
    def _sides(self) -> FloatArray:
        """What is usual in each slot and in the next (2, slots); where one is NaN, the other one."""
        low, high = self.usual, np.roll(self.usual, -1)
        return frozen(np.array([np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)]))


@lru_cache(maxsize=64)
def _now(season: Season, parameters: SeasonParameters) -> tuple[float, float]:
    """Return the mean of the last rates, and of what was usual at their times; older ones count for less.

    It is needed for what is to come, and then for how far the next rate is off.
    """
    ends_s, rates = np.array(season.recent).T
    weights = np.exp((ends_s - ends_s[-1]) / parameters.recent_s)
    total = weights.sum()
    return float(weights @ rates / total), float(weights @ season.usually(ends_s, parameters) / total)
