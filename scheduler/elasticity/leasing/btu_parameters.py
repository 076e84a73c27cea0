"""Parameters of the policy by billing units."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.base.checks import number, whole_number
from scheduler.elasticity.leasing.paid_time import PaidTimeParameters
from scheduler.elasticity.leasing.removal_score import RemovalWeights

_QUEUE_DOUBLE = 250.0


@dataclass(frozen=True, kw_only=True)
class BtuParameters(PaidTimeParameters):
    """Parameters of the policy by billing units; defaults are those of paper 003 but for the last two.

    Attributes:
        observations: N, durations that the trend looks at (>= 1); the paper does not state it.
        cached_factor: CF, in [0, 1].
        weights: Of Algorithm 3.
        drop_share_max: Share of a component's executors that one plan may take away, in [0, 1]; one always
            may.
        queue_double: Items above which a component gets two executors, late or not (>= queue_up), as in its
            authors' program and in the baseline; None: 250, or `queue_up` if that is more. The text never
            starts two, which a very high value does.
        cooldown_s: For so long after it has grown a component loses no executor, and after a lease no host is
            released, s (>= 0). Its authors' program has 180 s, the text none (0).
    """

    observations: int = 5
    cached_factor: float = 0.01
    weights: RemovalWeights = field(default_factory=RemovalWeights)
    drop_share_max: float = 0.2
    queue_double: float | None = None
    cooldown_s: float = 300.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("observations", self.observations, 1)
        number("cached_factor", self.cached_factor, most=1.0)
        number("drop_share_max", self.drop_share_max, most=1.0)
        if self.queue_double is not None:
            number("queue_double", self.queue_double, least=self.queue_up)
        number("cooldown_s", self.cooldown_s)

    @property
    def crowded_above(self) -> float:
        """Items above which a component gets two executors."""
        return max(_QUEUE_DOUBLE, self.queue_up) if self.queue_double is None else self.queue_double
