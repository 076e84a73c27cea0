"""The problem as it will be in each step, on one scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.moving.steps import Step, forecast

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@pytest.fixture
def problem() -> Problem:
    return running(replacement("dag", 4, 3, np.random.default_rng(5)), np.array([0, 1, 2, 0]))


def test_a_step_has_its_rates_its_nodes_and_its_prices(problem: Problem) -> None:
    steps = [Step(60.0), Step(60.0, 2.0, frozenset({"n2"}), {"n1": 7.0})]
    now, later = forecast(problem, steps).problems
    assert later.application.rate.tolist() == (2.0 * now.application.rate).tolist()
    assert not later.allowed[:, 1].any()
    assert later.allowed[:, [0, 2]].all()
    assert later.network.cost.tolist() == [7.0, *now.network.cost[1:].tolist()]
    assert now.network.cost.tolist() == problem.network.cost.tolist()


def test_a_node_that_is_away_is_away_for_pinned_operators_too(problem: Problem) -> None:
    """An operator that may run nowhere else has no place in that step."""
    first, *others = problem.application.operators
    pinned = replace(problem.application, operators=(replace(first, allowed=("n2",)), *others))
    (later,) = forecast(replace(problem, application=pinned), [Step(1.0, away=frozenset({"n2"}))]).problems
    assert not later.allowed[0].any()


def test_all_steps_are_measured_on_one_scale(problem: Problem) -> None:
    """A byte weighs the same at night and at noon, and wherever operators run."""
    traffic = replace(problem, objective=replace(problem.objective, weights={"network_usage": 1.0}))
    steps = [Step(60.0), Step(60.0, 3.0), Step(60.0, 0.1)]
    found = forecast(traffic, steps).problems
    assert len({each.scale.factor("network_usage") for each in found}) == 1
    placement = np.array([0, 1, 2, 0])
    values = [evaluate(each, placement).objective for each in found]
    least = found[0].ranges["network_usage"][0]
    factor = found[0].scale.factor("network_usage")
    bytes_now = evaluate(found[0], placement).values["network_usage"]
    assert values == pytest.approx([factor * (k * bytes_now - least) for k in (1.0, 3.0, 0.1)])
    moved = forecast(running(traffic, np.array([2, 2, 2, 2])), steps).problems
    assert [each.ranges for each in moved] == [each.ranges for each in found]


def test_given_ranges_stay(problem: Problem) -> None:
    given = {"response_time": (1.0, 5000.0)}
    stated = replace(problem, objective=replace(problem.objective, ranges=given))
    for each in forecast(stated, [Step(1.0), Step(1.0, 2.0)]).problems:
        assert each.ranges["response_time"] == (1.0, 5000.0)


def test_steps_that_are_alike_share_a_problem(problem: Problem) -> None:
    found = forecast(problem, [Step(10.0), Step(20.0, 2.0), Step(30.0), Step(5.0, 2.0)])
    assert found.of_step == (0, 1, 0, 1)
    assert found.seconds == (10.0, 20.0, 30.0, 5.0)
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("step", "place"),
    [
        (Step(1.0, away=frozenset({"n9"})), r"steps\[1\]\.away: the network has no node n9"),
        (Step(1.0, cost={"n9": 1.0}), r"steps\[1\]\.cost: the network has no node n9"),
        (Step(1.0, rate=(1.0,) * 99), r"steps\[1\]\.rate: expected \d factors, got 99"),
    ],
)
def test_what_the_problem_has_not_is_named(problem: Problem, step: Step, place: str) -> None:
    with pytest.raises(ModelError, match=place):
        forecast(problem, [Step(1.0), step])


def test_at_least_one_step_is_needed(problem: Problem) -> None:
    with pytest.raises(ModelError, match="steps"):
        forecast(problem, [])


@pytest.mark.parametrize(("seconds", "rate"), [(0.0, 1.0), (1.0, -1.0), (1.0, (1.0, float("nan")))])
def test_impossible_steps_are_refused(seconds: float, rate: float | tuple[float, ...]) -> None:
    with pytest.raises(ModelError):
        Step(seconds, rate)
