"""What demand is usual at each time of the week, and where that leads from what came last."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.base.arrays import FloatArray
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import ComponentReading

DAY_S = 86_400.0
SLOT_S = 900.0
"""For so long one mean is kept, s."""
_OF_DAY = round(DAY_S / SLOT_S)
_LEAST_TIMES = 2.0
"""What was seen less often may have been a holiday, or a fault."""
_MEMORY = 4.0
"""Times from which on older ones count for less and less: habits change."""
_WHOLE = 0.6
"""Of a slot has to be seen."""
_DIGITS = 12
"""Binary ones of a mean that are kept, to a five-thousandth: noise cannot be compressed."""
_KEPT_SEASONS = 4.0
"""Without a reading for so long a topology is forgotten."""


@dataclass(frozen=True, eq=False)
class Usual:
    """What is known of a topology's demand.

    Attributes:
        means: (slots,) mean demand of each slot of a season, items per second; 0: never seen.
        times: (slots,) how often each was seen whole, up to a few.
        slot: Number of the slot, from 0 s on, that is being seen.
        since_s: First reading in it, s.
        last_s: Last one, s.
        total: Sum of the demand read in it.
        count: Readings.
        parts: Components that were counted.
    """

    means: FloatArray
    times: FloatArray
    slot: int = -1
    since_s: float = 0.0
    last_s: float = 0.0
    total: float = 0.0
    count: int = 0
    parts: int = 0

    @classmethod
    def first(cls, season_s: float) -> Usual:
        """Return what is known at the beginning."""
        nothing = frozen(np.zeros(round(season_s / SLOT_S)))
        return cls(nothing, nothing)

    def seen(self, now_s: float, demand: float, parts: int) -> Usual:
        """Return what is known after one more reading.

        Args:
            now_s: Time, s.
            demand: Of all components that have one, items per second.
            parts: How many these are; when that changes, or a clock is set back, a slot begins anew.
        """
        slot = math.floor(now_s / SLOT_S)
        if slot == self.slot and parts == self.parts and now_s > self.last_s:
            after = replace(self, last_s=now_s, total=self.total + demand, count=self.count + 1)
            if "_known" in vars(self):  # within a slot what is known stays
                vars(after)["_known"] = self._known
            return after
        known = self._folded() if slot > self.slot else self
        return replace(known, slot=slot, since_s=now_s, last_s=now_s, total=demand, count=1, parts=parts)

    def _folded(self) -> Usual:
        """Return what is known after a slot, if it was seen whole."""
        if self.count < 2 or self.last_s - self.since_s < _WHOLE * SLOT_S:
            return self
        at = self.slot % len(self.means)
        means, times = self.means.copy(), self.times.copy()
        times[at] = min(_MEMORY, times[at] + 1.0)
        means[at] = _rounded(means[at] + (self.total / self.count - means[at]) / times[at])
        return replace(self, means=frozen(means), times=frozen(times))

    def at(self, times_s: Iterable[float]) -> list[float]:
        """Return what is usual at some times (n,), between the middles of slots; NaN: that is not known.

        A slot of the week counts once it was seen twice; before that, that time of all days.
        """
        known, usual = self._known, list[float]()
        for time_s in times_s:
            place = time_s / SLOT_S - 0.5
            before = math.floor(place)
            low, high = known[before % len(known)], known[(before + 1) % len(known)]
            usual.append(low + (place - before) * (high - low))
        return usual

    @cached_property
    def _known(self) -> list[float]:
        """What is usual in each slot (slots,)."""
        times, means = self.times.reshape(-1, _OF_DAY), self.means.reshape(-1, _OF_DAY)
        seen = times.sum(axis=0)
        of_day = (means * times).sum(axis=0) / np.maximum(seen, 1.0)
        of_day = np.where(seen >= _LEAST_TIMES, of_day, np.nan)
        known: list[float] = np.where(times >= _LEAST_TIMES, means, of_day).ravel().tolist()
        return known


def _rounded(value: float) -> float:
    part, power = math.frexp(value)
    return math.ldexp(round(math.ldexp(part, _DIGITS)), power - _DIGITS)


def usual_after(
    known: Mapping[str, Usual],
    now_s: float,
    components: Iterable[Component],
    readings: Mapping[str, ComponentReading],
    season_s: float,
) -> dict[str, Usual]:
    """Return what is known of each group after a round: its components' demand comes and goes together.

    Args:
        known: Before, by group.
        now_s: Time of the round, s.
        components: What is scaled.
        readings: That count.
        season_s: After which time demand comes again, s.
    """
    demand: dict[str, list[float]] = defaultdict(list)
    groups = set()
    for each in components:
        groups.add(each.group)
        own = readings[each.name].demand_per_s if each.name in readings else None
        if own is not None:
            demand[each.group].append(own)
    slots = round(season_s / SLOT_S)
    after = {
        group: each
        for group, each in known.items()
        if len(each.means) == slots and (group in groups or now_s - each.last_s <= _KEPT_SEASONS * season_s)
    }
    for group, parts in demand.items():
        after[group] = after.get(group, Usual.first(season_s)).seen(now_s, math.fsum(parts), len(parts))
    return after
