"""A node is paid for each of its operators, or once."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import evaluate
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem
from scheduler.plan import plan


def problem(cost_model: str) -> Problem:
    nodes = tuple(Node(f"n{u}", {"slots": 3}, cost=cost) for u, cost in enumerate((5.0, 3.0, 4.0)))
    operators = tuple(Operator(f"o{i}") for i in range(3))
    objective = Objective({"cost": 1.0}, cost_model=cost_model)  # type: ignore[arg-type]  # a test refuses one
    return Problem(Application(operators), Network(nodes, np.zeros((3, 3))), objective)


@pytest.mark.parametrize(("cost_model", "cost"), [("per-operator", 5 + 5 + 3), ("per-node", 5 + 3)])
def test_what_a_placement_costs(cost_model: str, cost: float) -> None:
    assert evaluate(problem(cost_model), np.array([0, 0, 1])).values["cost"] == pytest.approx(cost)


def test_at_least_one_node_is_paid_and_at_most_one_per_operator() -> None:
    assert problem("per-node").ranges["cost"] == pytest.approx((3.0, 5.0 + 4.0 + 3.0))


@pytest.mark.parametrize("strategy", ["odp", "odr", "ils", "local-search"])
def test_operators_share_the_cheapest_node(strategy: str) -> None:
    result = plan(problem("per-node"), strategy)

    assert result.placement is not None
    assert result.placement.tolist() == [1, 1, 1]


def test_another_model_is_refused() -> None:
    with pytest.raises(ModelError, match='cost_model: expected "per-operator" or "per-node", got "per-rack"'):
        problem("per-rack")
