"""When an executor began to work, from the renderings of its statistics. No clock here.

A worker renders no statistics of its executors before they are loaded. Far from ZooKeeper that takes a while,
in which tuples wait for them already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.rates.counters import Counters

_LEAST_COUNTS = 0.1
"""Counts per second from which the first work is known: rarer tuples say more of themselves than of it."""
_BACKLOG = 1.5
"""Counts are of a backlog if the time for which they speak exceeds what is possible by this factor."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """How an executor began to work in one run of its worker; ages are those of the worker, s.

    Attributes:
        first: The first rendering; None before it.
        followed: Whether none can have come before it unseen.
        period_s: Time between the first two; None before the second.
        idle_s: Age at the last one without counts; None if there was none.
        worked: The first one with counts; None before it.
    """

    first: Counters | None = None
    followed: bool = False
    period_s: float | None = None
    idle_s: float | None = None
    worked: Counters | None = None

    def after(self, counters: Counters, *, followed: bool) -> Beginning:
        """Return what is known after one more rendering.

        Args:
            counters: What it says.
            followed: Whether looks were close enough to see one before it.
        """
        known, age_s = self, float(counters.uptime_s)
        if self.first is None:
            known = replace(self, first=counters, followed=followed)
        elif self.period_s is None:
            known = replace(self, period_s=age_s - self.first.uptime_s)
        if known.worked is not None:
            return known
        return replace(known, worked=counters) if counters.done else replace(known, idle_s=age_s)

    @property
    def ready_s(self) -> float | None:
        """Age at which the executor was there and had no tuple yet; None if it had some, or is not known."""
        if self.first is None or self.first.done or not self.followed or self.period_s is None:
            return None
        return (self._unready_s + self.first.uptime_s) / 2.0

    def worked_s(self, newest: Counters) -> float | None:
        """Return the age at which the executor began to take or emit tuples; None if that is not known.

        It lies between the last rendering without counts, or the time when the executor was not there, and
        the first with some: by the counts of that and the rate since. Where these are too many a backlog was
        worked off, and they do not say when.

        Args:
            newest: The newest rendering of the run.
        """
        if self.worked is None or newest.uptime_s <= self.worked.uptime_s:
            return None
        latest_s = float(self.worked.uptime_s)
        rate = (newest.done - self.worked.done) / (newest.uptime_s - latest_s)
        if rate < _LEAST_COUNTS * newest.step:
            return None
        earliest_s = self._unready_s if self.idle_s is None else self.idle_s
        lasted_s, possible_s = self.worked.done / rate, latest_s - earliest_s
        if lasted_s > _BACKLOG * possible_s:
            return latest_s - possible_s / 2.0
        return latest_s - min(lasted_s, possible_s)

    @property
    def _unready_s(self) -> float:
        """Age at which a rendering was due before the first, and did not come; 0 if that is not known."""
        if self.first is None or not self.followed or self.period_s is None:
            return 0.0
        return max(self.first.uptime_s - self.period_s, 0.0)
