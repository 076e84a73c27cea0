"""Parameters of the manager that looks ahead, and the conditions between its weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, number
from scheduler.elasticity.learning.season import SeasonParameters
from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.path import Path


@dataclass(frozen=True, kw_only=True)
class RollingParameters:
    """Parameters of the manager.

    Attributes:
        path: Components that share the bound, its own among them; the same for the managers of all of them.
        weights: Of the cost of a period; resources are those of all executors that the path may have.
        horizon_s: How far it looks ahead, s (>= period_s).
        period_s: Time between two decisions, s (> 0).
        pause_s: How long a change pauses what changes, s (>= 0).
        sample_age_max_s: Age above which a sample decides nothing, s (> 0).
        season: How rates are forecast.
        guard: Executors that twice are saturated by less than they are thought to serve ask for one more.
        heed_conditions: Refuse weights with which a bad policy is optimal (`conditions`).
    """

    path: Path
    weights: OperatorWeights = field(default_factory=OperatorWeights)
    horizon_s: float = 10_800.0
    period_s: float = 60.0
    pause_s: float = 0.0
    sample_age_max_s: float = 120.0
    season: SeasonParameters = field(default_factory=SeasonParameters)
    guard: bool = True
    heed_conditions: bool = True

    def __post_init__(self) -> None:
        number("period_s", self.period_s, above=0.0)
        if number("horizon_s", self.horizon_s) < self.period_s:
            raise ModelError(
                "horizon_s", f"expected at least period_s ({self.period_s:g}), got {self.horizon_s:g}"
            )
        number("pause_s", self.pause_s)
        number("sample_age_max_s", self.sample_age_max_s, above=0.0)
        broken = self.conditions()
        if self.heed_conditions and broken:
            raise ModelError("weights", broken[0])

    def conditions(self) -> tuple[str, ...]:
        """Return what is wrong between the weights, one sentence each; empty if a good policy is optimal."""
        most, least = self.path.executors_max, self.path.executors_min
        weights, periods = self.weights, self.horizon_s / self.period_s
        dearest = weights.resources * (most - least) / most
        price = weights.reconfiguration + weights.performance * self.pause_s / self.period_s
        saved = weights.resources * periods / most
        broken = []
        if weights.performance <= dearest:
            less = (
                f"(resources of {most - least} of {most} executors), or being late is cheaper than they are"
            )
            broken.append(f"performance {weights.performance:g} has to be above {dearest:g} {less}")
        if price >= saved:
            more = "(what one executor costs until the horizon), or none is ever given back"
            broken.append(f"reconfiguration with its pause, {price:g}, has to be below {saved:g} {more}")
        return tuple(broken)
