"""A run in two layers as its report needs it: without minutes, but by days and beside hindsight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.elasticity.period_cost import daily_costs, daily_violations, least_cost, period_cost
from experiments.elasticity.simulation import simulate

if TYPE_CHECKING:
    from experiments.elasticity.asked import Asked
    from experiments.elasticity.outcome import Outcome
    from experiments.elasticity.scenario import Scenario


@dataclass(frozen=True)
class LayeredRun:
    """A run.

    Attributes:
        asked: What was run.
        outcome: What came of it, without periods.
        cost: J over the time that counts, mean of a period, in [0, 1].
        least: Its lower bound, had the load been known.
        day_costs: J of each day, those that do not count included.
        day_violations: Share of each day in which the response time was above its bound.
    """

    asked: Asked
    outcome: Outcome
    cost: float
    least: float
    day_costs: tuple[float, ...]
    day_violations: tuple[float, ...]


def layered_run(scenario: Scenario, asked: Asked) -> LayeredRun:
    """Carry out a run.

    Args:
        scenario: A chain with a bound on the response time.
        asked: Policy, load, hosts and seed.

    Raises:
        ScenarioError: As `simulate`.
    """
    outcome = simulate(scenario, asked)
    return LayeredRun(
        asked,
        replace(outcome, periods=()),
        period_cost(scenario, outcome),
        least_cost(scenario, asked.load, asked.seed),
        tuple(daily_costs(outcome)),
        tuple(daily_violations(outcome)),
    )
