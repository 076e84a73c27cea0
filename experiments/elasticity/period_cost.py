"""What a run in two layers cost per period, in the terms of paper 004, and the least it could have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.elasticity.hindsight import Question, hindsight
from experiments.elasticity.layered_policies import EXECUTORS_MAX, path_of
from experiments.elasticity.loads import load_at
from experiments.elasticity.outcome import PERIOD_S
from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.elasticity.outcome import Outcome, Period
    from experiments.elasticity.scenario import Scenario

WEIGHTS = OperatorWeights(0.6, 0.2, 0.2)
"""By which costs are compared; the policies that look ahead and hindsight have the same."""
_DAY = round(86_400.0 / PERIOD_S)


def period_cost(scenario: Scenario, outcome: Outcome) -> float:
    """Return J over the time that counts: w_perf late + w_rcf changes + w_res executors, each in [0, 1].

    Args:
        scenario: Of the run.
        outcome: Of the run.
    """
    counted = [each for each in outcome.periods if each.until_s > scenario.counted_from_min * 60.0]
    return _cost(counted)


def daily_costs(outcome: Outcome) -> list[float]:
    """Return J of each whole day of a run, those that do not count included."""
    return [_cost(each) for each in _days(outcome)]


def daily_violations(outcome: Outcome) -> list[float]:
    """Return the share of each whole day in which the response time was above its bound."""
    return [sum(each.violations or 0.0 for each in day) / len(day) for day in _days(outcome)]


def least_cost(scenario: Scenario, load: str, seed: int) -> float:
    """Return a lower bound of J under a load, had it been known.

    Args:
        scenario: A chain with a bound on the response time.
        load: Its name.
        seed: Of the load.
    """
    question = Question(scenario=scenario, path=path_of(scenario, EXECUTORS_MAX), weights=WEIGHTS)
    return hindsight(question, load_at(scenario.load[load], scenario.steps, scenario.step_s, seed)).cost


def _days(outcome: Outcome) -> list[Sequence[Period]]:
    days = len(outcome.periods) // _DAY
    return [outcome.periods[k * _DAY : (k + 1) * _DAY] for k in range(days)]


def _cost(periods: Sequence[Period]) -> float:
    executors = sum(sum(each.executors) for each in periods) / len(periods[0].executors) / EXECUTORS_MAX
    changes = sum(min(1, each.reconfigurations) for each in periods)
    late = sum(each.violations or 0.0 for each in periods)
    terms = WEIGHTS.performance * late, WEIGHTS.reconfiguration * changes, WEIGHTS.resources * executors
    return sum(terms) / len(periods)
