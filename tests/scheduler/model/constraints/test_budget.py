"""Budgets on sums of values per operator and node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.budget import Budget
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

VALUES = {"b": {"x": 4.0, "y": 1.0, "z": 2.0}, "c": {"x": 3.0, "y": 3.0, "z": 3.0}}


def limited(chain: Problem, most: float) -> Problem:
    return replace(chain, constraints=(Budget("moves", most, VALUES),))


def test_what_exceeds_a_budget_is_named(chain: Problem) -> None:
    """b on x takes 4, c on y 3; a, without values, nothing."""
    (violation,) = check(limited(chain, 6.5), np.array([0, 0, 1]))
    assert violation.kind == "budget"
    assert violation.message == "the budget moves has 6.5 units, operators b, c take 7"
    assert check(limited(chain, 7.0), np.array([0, 0, 1])) == ()


def test_strategies_keep_within_a_budget(chain: Problem) -> None:
    """4 units leave b the node y only."""
    for strategy in ("greedy", "local-search", "odp"):
        placement = plan(limited(chain, 4.0), strategy).placement
        assert placement is not None
        assert placement[1] == 1


def test_a_budget_that_nothing_keeps_to_is_infeasible(chain: Problem) -> None:
    """1 and 3 are the least."""
    result = plan(limited(chain, 3.5), "odp")
    assert result.reason == "the budget moves has 3.5 units, and every placement takes 4 or more"


def test_a_part_of_the_network_drops_values_of_other_nodes(chain: Problem) -> None:
    """What is left is as tight as before."""
    (kept,) = restrict(limited(chain, 4.0), np.array([0, 2])).constraints
    assert kept == Budget("moves", 4.0, {"b": {"x": 4.0, "z": 2.0}, "c": {"x": 3.0, "z": 3.0}})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "values: expected values by operator and node, got an array"),
        ({"b": {"x": -1.0}}, "values.b.x: expected a number >= 0, got -1"),
        ({"q": {"x": 1.0}}, 'constraints.budget[0].operators[0]: "q" is not an operator'),
        ({"b": {"q": 1.0}}, 'constraints.budget[0].values.b.q: "q" is not a node of the network'),
    ],
)
def test_bad_budgets_are_refused_with_their_place(chain: Problem, values: Any, message: str) -> None:
    """Names and numbers are checked."""
    with pytest.raises(ModelError) as caught:
        replace(chain, constraints=(Budget("moves", 1.0, values),))
    assert str(caught.value).startswith(message)
