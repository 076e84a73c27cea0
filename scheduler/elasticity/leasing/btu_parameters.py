"""What the policy by billing units is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.base.checks import ModelError, number, whole_number
from scheduler.elasticity.leasing.parameters import LeasingParameters
from scheduler.elasticity.leasing.removal_score import RemovalWeights


@dataclass(frozen=True, kw_only=True)
class BtuParameters(LeasingParameters):
    """Parameters of the policy by billing units; defaults are those of paper 003.

    Attributes:
        observations: N, durations that the trend looks at (>= 1); the paper does not state it.
        cached_factor: CF, in [0, 1].
        weights: Of Algorithm 3.
        penalty: P, cost of one late item, in the currency of the offer (>= 0).
        drop_share_max: Share of a component's executors that one plan may take away, in [0, 1]; one always
            may.
        queue_double: Items above which a component gets two executors, late or not; None: never (the paper).
        cooldown_s: For so long after it has grown a component loses no executor, and after a lease no host is
            released, s (>= 0); 0: none (the paper).
        release_window_share: Share of a billing unit before its end in which a host is judged, in (0, 1].
        release_lead_s: Least length of that window, s (>= 0, at most the billing unit): rounds have to fall
            into it, and executors have to leave within it.
    """

    observations: int = 5
    cached_factor: float = 0.01
    weights: RemovalWeights = field(default_factory=RemovalWeights)
    penalty: float = 0.0001
    drop_share_max: float = 0.2
    queue_double: float | None = None
    cooldown_s: float = 0.0
    release_window_share: float = 0.05
    release_lead_s: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("observations", self.observations, 1)
        number("cached_factor", self.cached_factor, most=1.0)
        number("penalty", self.penalty)
        number("drop_share_max", self.drop_share_max, most=1.0)
        if self.queue_double is not None:
            number("queue_double", self.queue_double, least=self.queue_up)
        number("cooldown_s", self.cooldown_s)
        number("release_window_share", self.release_window_share, above=0.0, most=1.0)
        unit_s = self.offer.billing_unit_s
        if number("release_lead_s", self.release_lead_s) > unit_s:
            expected = f"expected at most the billing unit ({unit_s:g} s)"
            raise ModelError("release_lead_s", f"{expected}, got {self.release_lead_s:g}")

    @property
    def window_s(self) -> float:
        """How long before the end of its paid time a host is judged, s."""
        return max(self.release_window_share * self.offer.billing_unit_s, self.release_lead_s)
