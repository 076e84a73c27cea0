"""What would have been cheapest, had the load been known."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.hindsight import Question, hindsight
from experiments.elasticity.period_cost import daily_costs, daily_violations, least_cost, period_cost
from experiments.elasticity.scenario_file import ScenarioError, read_scenario
from experiments.elasticity.simulation import simulate
from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights
from scheduler.elasticity.operator_manager.path import Path, PathPart
from tests.experiments.elasticity.scenarios import SHIPPED, scenario

PAPER = read_scenario(SHIPPED / "paper-004.toml").model_copy(
    update={"duration_min": 1080.0, "counted_from_min": 360.0}
)
WEIGHTS = OperatorWeights(0.5, 0.05, 0.45)
SMALL = scenario(step_s=10, duration_min=7, monitor_interval_s=60, pause_s=20, response_max_ms=100)
PATH = Path((PathPart("a", 1.0, 100.0, 3),), 50.0)
LOAD = np.repeat([60.0, 60.0, 150.0, 150.0, 230.0, 60.0, 60.0], 6)


def cost_of(plan: tuple[int, ...]) -> float:
    """Return what a plan costs, worked out step by step."""
    total = 0.0
    for k, executors in enumerate(plan):
        new = k > 0 and executors != plan[k - 1]
        late = sum(
            (new and 10 * step < 20) or PATH.response_ms((executors,), LOAD[6 * k]) > 50.0
            for step in range(6)
        )
        total += 0.5 * late / 6 + 0.05 * new + 0.45 * executors / 3
    return total / len(plan)


def test_no_other_plan_is_cheaper() -> None:
    found = hindsight(Question(scenario=SMALL, path=PATH, weights=WEIGHTS), LOAD)
    plan = tuple(each[0] for each in found.executors)
    assert found.cost == pytest.approx(cost_of(plan))
    assert found.cost == pytest.approx(min(cost_of(each) for each in product((1, 2, 3), repeat=7)))
    assert len(set(plan)) > 1, "a change pays here"


def test_drains_make_changes_dearer() -> None:
    question = Question(scenario=SMALL, path=PATH, weights=WEIGHTS)
    without, with_drains = (hindsight(replace(question, drains=each), LOAD).cost for each in (False, True))
    assert without < with_drains


@pytest.mark.parametrize(
    ("policy", "load"),
    [("rolling", "sinus"), ("hindsight", "noisy"), ("threshold-tuned", "noisy"), ("threshold-tuned", "even")],
)
def test_no_policy_is_cheaper_than_the_bound(policy: str, load: str) -> None:
    outcome = simulate(PAPER, Asked(policy, load, "small", 1))
    assert period_cost(PAPER, outcome) > least_cost(PAPER, load, 1) > 0.0


def test_hindsight_is_carried_out_as_planned() -> None:
    """With what the bound neglects it costs little more."""
    outcome = simulate(PAPER, Asked("hindsight", "sinus", "small", 1))
    assert outcome.periods[0].executors == (12, 12, 12, 12)
    assert period_cost(PAPER, outcome) < 1.1 * least_cost(PAPER, "sinus", 1)
    assert 0 < outcome.reconfigurations < 30


def test_days_make_the_time_that_counts() -> None:
    two = PAPER.model_copy(update={"duration_min": 2 * 1440.0, "counted_from_min": 1440.0})
    outcome = simulate(two, Asked("static-peak", "noisy", "small", 1))
    assert daily_costs(outcome)[1:] == pytest.approx([period_cost(two, outcome)])
    assert daily_violations(outcome)[1:] == pytest.approx([outcome.violations])
    assert len(daily_costs(outcome)) == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"size": 1}, "policy.x.size: unknown key"),
        ({"hosts_max": 0}, "policy.x.hosts_max: expected a whole number >= 1, got 0"),
        (
            {"weights": {"performance": 1.0}},
            "policy.x.weights: expected a sum of 1, got 1.66667",
        ),
    ],
)
def test_refused(changed: dict[str, Any], message: str) -> None:
    given = scenario(response_max_ms=5000, policy={"x": {"kind": "hindsight", "hosts_max": 8, **changed}})
    with pytest.raises(ScenarioError, match=f"^{message}$"):
        simulate(given, Asked("x", "even", "small"))
