"""What policies are given that look at the ends of paid time, and at what lateness costs."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import ModelError, number
from scheduler.elasticity.leasing.parameters import LeasingParameters


@dataclass(frozen=True, kw_only=True)
class PaidTimeParameters(LeasingParameters):
    """Parameters of such policies; defaults are those of paper 003.

    Attributes:
        penalty: P, cost of one late item, in the currency of the offer (>= 0).
        release_window_share: Share of a billing unit before its end in which a host is judged, in (0, 1].
        release_lead_s: Least length of that window, s (>= 0, at most the billing unit): rounds have to fall
            into it, and executors have to leave within it.
    """

    penalty: float = 0.0001
    release_window_share: float = 0.05
    release_lead_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("penalty", self.penalty)
        number("release_window_share", self.release_window_share, above=0.0, most=1.0)
        unit_s = self.offer.billing_unit_s
        if number("release_lead_s", self.release_lead_s) > unit_s:
            expected = f"expected at most the billing unit ({unit_s:g} s)"
            raise ModelError("release_lead_s", f"{expected}, got {self.release_lead_s:g}")

    @property
    def window_s(self) -> float:
        """How long before the end of its paid time a host is judged, s."""
        return max(self.release_window_share * self.offer.billing_unit_s, self.release_lead_s)
