"""Limits on co-location."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.separation import CoLocationLimit
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.registry import anywhere

if TYPE_CHECKING:
    from collections.abc import Callable


def limited(*limits: CoLocationLimit) -> Problem:
    """a -> b -> c -> d on three roomy nodes."""
    operators = tuple(Operator(name, 1.0) for name in "abcd")
    streams = tuple(Stream(*ends) for ends in ("ab", "bc", "cd"))
    nodes = tuple(Node(name, {"slots": 4}) for name in "xyz")
    delay = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]])
    return Problem(Application(operators, streams), Network(nodes, delay), constraints=limits)


@pytest.mark.parametrize("strategy", anywhere())
def test_every_strategy_keeps_operators_apart(strategy: str) -> None:
    """Anti-affinity of a, b and c uses all three nodes, a limit of two on all four uses two at least."""
    apart = plan(limited(CoLocationLimit(("a", "b", "c"))), strategy).placement
    assert apart is not None
    assert len(set(apart[:3].tolist())) == 3
    pairs = plan(limited(CoLocationLimit(("a", "b", "c", "d"), most=2)), strategy).placement
    assert pairs is not None
    assert np.bincount(pairs).max() <= 2


@pytest.mark.parametrize("strategy", anywhere())
def test_too_many_operators_to_keep_apart_are_infeasible(strategy: str) -> None:
    """Four operators on three nodes, one each: the reason says so."""
    result = plan(limited(CoLocationLimit(("a", "b", "c", "d"))), strategy)
    assert result.status == "infeasible"
    assert result.reason == (
        "operators a, b, c, d demand 4 shared slots of a, b, c, d, all nodes together have 3 (1 short)"
    )


def test_a_broken_limit_is_stated_with_node_and_operators() -> None:
    """The checker names where and who."""
    (violation,) = check(limited(CoLocationLimit(("a", "b"))), np.array([0, 0, 0, 1]))
    assert violation.kind == "capacity"
    assert violation.message == "node x has 1 shared slots of a, b, 2 are demanded"


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: CoLocationLimit(()), "operators"),
        (lambda: CoLocationLimit(("a", "a")), "operators[1]"),
        (lambda: CoLocationLimit(("a",), most=0), "most"),
        (lambda: limited(CoLocationLimit(("a", "q"))), "constraints.co_location[0].operators[1]"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], where: str) -> None:
    """The place is named."""
    with pytest.raises(ModelError) as error:
        make()
    assert error.value.where == where
