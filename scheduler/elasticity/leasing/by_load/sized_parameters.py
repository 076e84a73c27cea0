"""Parameters of the policy that sizes components by their load."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import ModelError, number
from scheduler.elasticity.leasing.parameters import LeasingParameters


@dataclass(frozen=True, kw_only=True)
class SizedParameters(LeasingParameters):
    """Parameters of the policy that sizes components by their load.

    Attributes:
        target_load: Share of their time for which executors are to be busy, in (0, 1).
        drain_s: In so long a backlog is to be worked off, s (> 0).
        keep_peak_s: For so long the highest demand is provided for, s (>= 0).
        trend_s: Length of the past that the trend goes by, s (>= 0); 0: no trend.
        ahead_s: How far the trend is followed, s (>= 0): until a host asked for now would work.
        penalty: Cost of one late item, in the currency of the offer (>= 0).
        move_cost: Cost of moving an executor off a host that is given back, in that currency (>= 0).
        release_window_share: Share of a billing unit before its end in which a host is judged, in (0, 1].
        release_lead_s: Least length of that window, s (>= 0, at most the billing unit): rounds have to fall
            into it, and executors have to leave within it.
    """

    target_load: float = 0.8
    drain_s: float = 60.0
    keep_peak_s: float = 900.0
    trend_s: float = 0.0
    ahead_s: float = 120.0
    penalty: float = 0.0001
    move_cost: float = 0.001
    release_window_share: float = 0.05
    release_lead_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("target_load", self.target_load, above=0.0, most=1.0)
        if self.target_load >= 1.0:
            raise ModelError("target_load", "expected a number < 1, at which no backlog ever shrinks, got 1")
        number("drain_s", self.drain_s, above=0.0)
        for name in ("keep_peak_s", "trend_s", "ahead_s", "penalty", "move_cost"):
            number(name, getattr(self, name))
        number("release_window_share", self.release_window_share, above=0.0, most=1.0)
        unit_s = self.offer.billing_unit_s
        if number("release_lead_s", self.release_lead_s) > unit_s:
            expected = f"expected at most the billing unit ({unit_s:g} s)"
            raise ModelError("release_lead_s", f"{expected}, got {self.release_lead_s:g}")

    @property
    def window_s(self) -> float:
        """How long before the end of its paid time a host is judged, s."""
        return max(self.release_window_share * self.offer.billing_unit_s, self.release_lead_s)
