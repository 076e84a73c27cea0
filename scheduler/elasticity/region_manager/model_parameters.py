"""What a model-based region manager is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.base.checks import ModelError, number, whole_number

_SUM = 1e-9
"""Weights add up to 1 within this."""


@dataclass(frozen=True)
class RegionWeights:
    """What the terms of the cost weigh; they add up to 1.

    Attributes:
        demand: w_d, of an interval in which requests found no place.
        resources: w_r, of all hosts that may be active.
        host_moves: w_h, of a start or a stop. The paper has no such price, so that its policy starts and
            stops hosts all day.
    """

    demand: float = 0.8
    resources: float = 0.2
    host_moves: float = 0.0

    def __post_init__(self) -> None:
        given = [number(each, getattr(self, each)) for each in ("demand", "resources", "host_moves")]
        if abs(sum(given) - 1.0) > _SUM:
            raise ModelError("weights", f"expected a sum of 1, got {sum(given):g}")


@dataclass(frozen=True, kw_only=True)
class RegionModelParameters:
    """Parameters of the manager.

    Attributes:
        hosts_max: K_max,r (>= hosts_min, >= 1).
        hosts_min: Hosts that are never given back (>= 0).
        quantum: Step in which the utilisation is told apart, in (0, 1].
        weights: Of the cost.
        discount: gamma, in [0, 1); the paper's text does not state it.
        learning_rate: alpha, in (0, 1]; the paper's text does not state it.
        sample_age_max_s: Age above which a report decides nothing, s (> 0).
    """

    hosts_max: int
    hosts_min: int = 0
    quantum: float = 0.1
    weights: RegionWeights = field(default_factory=RegionWeights)
    discount: float = 0.99
    learning_rate: float = 0.1
    sample_age_max_s: float = 240.0

    def __post_init__(self) -> None:
        whole_number("hosts_min", self.hosts_min, 0)
        whole_number("hosts_max", self.hosts_max, max(1, self.hosts_min))
        number("quantum", self.quantum, above=0.0, most=1.0)
        if number("discount", self.discount, most=1.0) >= 1.0:
            raise ModelError("discount", "expected a number < 1, got 1")
        number("learning_rate", self.learning_rate, above=0.0, most=1.0)
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)

    @property
    def rows(self) -> int:
        """How many numbers of hosts there are, from `hosts_min` on."""
        return self.hosts_max - self.hosts_min + 1

    @property
    def levels(self) -> int:
        """How many levels the utilisation has: 0 to the nearest number of steps in 1."""
        return self.level_of(1.0) + 1

    def level_of(self, utilisation: float) -> int:
        """Return the level of a utilisation, rounded to the nearest step."""
        return round(utilisation / self.quantum)
