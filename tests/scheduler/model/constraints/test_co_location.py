"""Operators that share a node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.problem import UNPLACED, Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.registry import anywhere
from scheduler.search.descent import descend

if TYPE_CHECKING:
    from collections.abc import Callable


def joined(*blocks: CoLocation, slots: tuple[int, ...] = (2, 3, 3)) -> Problem:
    """a -> b -> c -> d on nodes x, y, z."""
    operators = tuple(Operator(name, 1.0) for name in "abcd")
    streams = tuple(Stream(*ends) for ends in ("ab", "bc", "cd"))
    nodes = tuple(Node(name, {"slots": has}) for name, has in zip("xyz", slots, strict=True))
    delay = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]])
    return Problem(Application(operators, streams), Network(nodes, delay), constraints=blocks)


@pytest.mark.parametrize("strategy", anywhere())
def test_every_strategy_keeps_a_block_on_one_node(strategy: str) -> None:
    """The first operator must not take a node without room for the other two, nor b their room."""
    placement = plan(joined(CoLocation(("a", "c", "d"))), strategy).placement

    assert placement is not None
    assert len(set(placement[[0, 2, 3]].tolist())) == 1
    assert placement[0] != 0


def test_a_descent_moves_a_block_as_a_whole() -> None:
    """b is pinned to y, d to z, where the block begins: z cannot move as a whole, nor a or c alone."""
    problem = joined(CoLocation(("a", "c")), slots=(3, 1, 3))
    pins = {"b": ("y",), "d": ("z",)}
    pinned = tuple(replace(each, allowed=pins.get(each.name)) for each in problem.application.operators)
    problem = replace(problem, application=replace(problem.application, operators=pinned))

    assert descend(problem, np.array([2, 1, 2, 2]), Deadline.none()).placement.tolist() == [0, 1, 0, 2]


def test_operators_on_several_nodes_are_named() -> None:
    """Who has to share, and where they are."""
    (violation,) = check(joined(CoLocation(("c", "a"))), np.array([0, 0, 2, 1]))
    assert violation.kind == "together"
    assert violation.message == "operators a, c have to share a node and are on x, z"


def test_a_begun_block_keeps_the_room_of_those_that_are_missing() -> None:
    """a is on x, which has two slots: neither b nor d may take the one that c needs."""
    problem = joined(CoLocation(("a", "c")))
    begun = np.array([0, UNPLACED, UNPLACED, UNPLACED])
    operators, nodes = np.array([1, 2, 2, 3, 3]), np.array([0, 0, 1, 0, 1])
    assert problem.rules.met_after(begun, operators, nodes).tolist() == [False, True, False, False, True]


def test_blocks_that_fit_nowhere_are_infeasible() -> None:
    """Too large together for any node, or allowed on no common one."""
    whole = joined(CoLocation(("a", "b", "c", "d")))
    assert whole.infeasibility == (
        "operators a, b, c, d have to share a node, and none allowed for them has room for all"
    )
    apart = tuple(
        replace(each, allowed=({"a": "x", "b": "y"}.get(each.name, "z"),))
        for each in whole.application.operators
    )
    problem = joined(CoLocation(("a", "b")))
    stuck = replace(problem, application=replace(problem.application, operators=apart))
    assert plan(stuck, "odp").reason == (
        "operators a, b have to share a node, and none is allowed for all of them"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CoLocation(("a",)), 'operators: expected two or more, got "a" alone'),
        (lambda: CoLocation(("a", "a")), 'operators[1]: "a" is there twice'),
        (
            lambda: joined(CoLocation(("a", "b")), CoLocation(("c", "q"))),
            'constraints.together[1].operators[1]: "q" is not an operator',
        ),
    ],
)
def test_bad_blocks_are_refused_with_their_place(make: Callable[[], object], message: str) -> None:
    """Names are checked."""
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value).startswith(message)
