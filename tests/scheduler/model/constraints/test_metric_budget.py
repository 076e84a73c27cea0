"""Budgets on what a placement costs, and on what moves cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict


def problem(most: float, metric: str = "cost", **objective: Any) -> Problem:
    """Two operators; x is fast and dear, y slow and cheap, and all runs on y."""
    nodes = (
        Node("x", {"slots": 2}, speedup=2.0, cost=6.0, pull_mb_per_s=10.0),
        Node("y", {"slots": 2}, cost=1.0, pull_mb_per_s=10.0),
    )
    operators = tuple(Operator(name, 10.0, image_mb=10.0) for name in "ab")
    return Problem(
        Application(operators, (Stream("a", "b", 1.0, 1.0),)),
        Network(nodes, np.array([[0.0, 1.0], [1.0, 0.0]]), link_cost=np.array([[0.0, 0.5], [0.5, 0.0]])),
        Objective(**objective),
        np.array([1, 1]),
        (MetricBudget(metric, most),),
    )


@pytest.mark.parametrize(
    ("most", "metric", "objective", "cheapest"),
    [
        (7.4, "cost", {}, [1, 1]),
        (7.5, "cost", {}, [0, 1]),
        (12.0, "cost", {}, [0, 0]),
        (5.9, "cost", {"cost_model": "per-node"}, [1, 1]),
        (6.0, "cost", {"cost_model": "per-node"}, [0, 0]),
        (5.9, "migration", {}, [1, 1]),
        (6.0, "migration", {}, [0, 1]),
        (12.0, "migration", {}, [0, 0]),
    ],
)
@pytest.mark.parametrize("strategy", ["odr", "odp", "local-search", "odr-search"])
def test_the_fastest_placement_within_a_budget(
    most: float, metric: str, objective: dict[str, Any], cheapest: list[int], strategy: str
) -> None:
    """Links cost half a unit where they leave a node; a move costs 1 s x 6."""
    placement = plan(problem(most, metric, **objective), strategy).placement

    assert placement is not None
    assert sorted(placement.tolist()) == cheapest


def test_what_exceeds_the_budget_is_named() -> None:
    (violation,) = check(problem(7.0), np.array([0, 1]))

    assert violation.kind == "budget of a metric"
    assert violation.message.startswith("the budget of cost has 7 units, ")
    assert violation.message.endswith(" take 7.5")


@pytest.mark.parametrize(("most", "objective", "least"), [(1.5, {}, 2), (0.5, {"cost_model": "per-node"}, 1)])
def test_a_budget_below_the_least_cost_is_a_named_conflict(
    most: float, objective: dict[str, Any], least: int
) -> None:
    result = plan(problem(most, **objective), "odr")

    assert result.status == "infeasible"
    assert result.reason == f"the budget of cost has {most} units, and every placement takes {least} or more"


def test_moves_within_a_budget_of_nodes_in_use_are_the_ones_that_are_permitted() -> None:
    """What a move leads to is judged as the placement that it leads to."""
    limited = problem(6.5, cost_model="per-node")
    (rule,) = limited.rules
    for placement in np.ndindex(2, 2):
        operators, nodes = (each.ravel() for each in np.indices((2, 2)))
        moved = np.repeat(np.array(placement)[:, None], 4, axis=1)
        moved[operators, np.arange(4)] = nodes
        assert rule.met_after(np.array(placement), operators, nodes).tolist() == rule.met(moved).tolist()


@pytest.mark.parametrize(
    ("metric", "most", "message"),
    [
        ("cost", -1.0, "cost: expected a number >= 0, got -1"),
        ("response_time", 1.0, 'metric: expected "cost" or "migration", got "response_time"'),
    ],
)
def test_bad_budgets_are_refused(metric: str, most: float, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        MetricBudget(metric, most)


def test_a_part_of_the_network_keeps_the_budget() -> None:
    part = restrict(problem(5.0, "migration"), np.array([0]))

    (violation,) = check(part, np.array([0, 0]))
    assert violation.message == "the budget of migration has 5 units, operators a, b take 12"
