"""Parameters of the policy that sizes components by their load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, number, shown
from scheduler.elasticity.leasing.by_load.usual import DAY_S
from scheduler.elasticity.leasing.paid_time import PaidTimeParameters

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.component import Component

_LONGEST_SEASON_S = 28 * DAY_S


@dataclass(frozen=True, kw_only=True)
class SizedParameters(PaidTimeParameters):
    """Parameters of the policy that sizes components by their load.

    Attributes:
        target_load: Share of their time for which executors are to be busy, in (0, 1).
        drain_s: In so long a backlog is to be worked off, s (> 0).
        keep_peak_s: For so long the highest demand is provided for, s (>= 0).
        trend_s: Length of the past that the trend goes by, s (>= 0); 0: no trend.
        ahead_s: How far the trend is followed, s (>= 0): until a host asked for now would work.
        season_s: After which time demand comes again, s; whole days, at most four weeks, as each quarter of
            an hour of it is remembered; 0: that is not learned.
        move_cost: Cost of moving an executor off a host that is given back, in that currency (>= 0).
        heed_pauses: Whether pauses of components count; without it a change costs nothing, to measure what
            that is for.
    """

    target_load: float = 0.8
    drain_s: float = 60.0
    keep_peak_s: float = 900.0
    trend_s: float = 0.0
    ahead_s: float = 120.0
    season_s: float = 7 * DAY_S
    move_cost: float = 0.001
    heed_pauses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("target_load", self.target_load, above=0.0, most=1.0)
        if self.target_load >= 1.0:
            raise ModelError("target_load", "expected a number < 1, at which no backlog ever shrinks, got 1")
        number("drain_s", self.drain_s, above=0.0)
        if not isinstance(self.heed_pauses, bool):
            raise ModelError("heed_pauses", f"expected true or false, got {shown(self.heed_pauses)}")
        for name in ("keep_peak_s", "trend_s", "ahead_s", "move_cost"):
            number(name, getattr(self, name))
        number("season_s", self.season_s, most=_LONGEST_SEASON_S)
        if self.season_s % DAY_S:
            raise ModelError("season_s", f"expected whole days of 86400 s, or 0, got {self.season_s:g}")

    def pause_s(self, component: Component) -> float:
        """Return for how long a component is taken to stand still when its group changes, s."""
        return component.pause_s if self.heed_pauses else 0.0
