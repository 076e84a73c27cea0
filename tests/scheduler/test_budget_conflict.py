"""Why no placement keeps a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.budget_conflict import budget_conflict
from scheduler.contract.children import INLINE
from scheduler.contract.strategy import Context, ignore
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.constraints.move_limit import MoveLimit
from scheduler.model.problem import Application, Network, Node, Operator, Problem

if TYPE_CHECKING:
    from scheduler.model.constraints.constraint import Constraint

CONTEXT = Context(np.random.default_rng(0), Deadline.none(), INLINE, ignore)


def running(*constraints: Constraint) -> Problem:
    """Two operators on x, at 9 each; y costs 1 and has room for one of them, which loads for 10 s."""
    operators = tuple(Operator(name, image_mb=10.0) for name in "ab")
    nodes = (
        Node("x", {"slots": 2}, cost=9.0, pull_mb_per_s=1.0),
        Node("y", {"slots": 1}, cost=1.0, pull_mb_per_s=1.0),
    )
    network = Network(nodes, np.zeros((2, 2)))
    return Problem(Application(operators), network, current=np.array([0, 0]), constraints=constraints)


@pytest.mark.parametrize(
    ("constraints", "why"),
    [
        (
            (MetricBudget("cost", 5.0),),
            "the budget of cost has 5 units, and every placement within allowed nodes and capacities takes "
            "10 or more",
        ),
        (
            (MetricBudget("migration", 5.0), MetricBudget("cost", 12.0)),
            "the budget of migration has 5 units, and every placement within allowed nodes, capacities and "
            "the budget of cost takes 10 or more",
        ),
        (
            # of two that fail alone, each without the other
            (MetricBudget("cost", 5.0), MetricBudget("cost", 6.0)),
            "the budget of cost has 5 units, and every placement within allowed nodes and capacities takes "
            "10 or more",
        ),
        (
            (MetricBudget("cost", 12.0), MoveLimit(0)),
            "the budget of cost has 12 units, and every placement within allowed nodes, capacities and "
            "the other constraints takes 18 or more",
        ),
        ((MetricBudget("cost", 10.0),), None),
        ((MetricBudget("cost", 1.0),), None),  # said by the problem itself
        ((), None),
    ],
)
def test_the_least_within_all_else_is_named(constraints: tuple[Constraint, ...], why: str | None) -> None:
    """None where a placement keeps the budget, or it is below the least anywhere."""
    problem = running(*constraints)
    found = budget_conflict(problem, CONTEXT)
    assert found == why
