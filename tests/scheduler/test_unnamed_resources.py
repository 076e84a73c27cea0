"""A resource that a node does not name is unlimited there, for every strategy."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict
from scheduler.registry import anywhere


def problem(memory: tuple[float, ...], capacity: tuple[dict[str, float], ...]) -> Problem:
    """Operators in a chain that demand memory alone, between nodes that are 10 ms apart."""
    operators = tuple(Operator(f"o{i}", 1.0, demand={"memory": asked}) for i, asked in enumerate(memory))
    streams = tuple(Stream(f"o{i}", f"o{i + 1}") for i in range(len(memory) - 1))
    nodes = tuple(Node(f"n{u}", named) for u, named in enumerate(capacity))
    return Problem(Application(operators, streams), Network(nodes, 10.0 - 10.0 * np.eye(len(nodes))))


@pytest.mark.parametrize("strategy", anywhere())
@pytest.mark.parametrize("memory", [(1e9,) * 5, (0.1, 0.2, 0.3, 1e6, 7.0)])
def test_all_operators_fit_where_it_is_not_named(strategy: str, memory: tuple[float, ...]) -> None:
    """All else is too small for any of them."""
    tight = {"memory": 0.05}
    result = plan(problem(memory, (tight, {"slots": 0}, tight)), strategy)
    assert result.placement is not None
    assert result.placement.tolist() == [1] * 5


@pytest.mark.parametrize("strategy", anywhere())
def test_a_part_of_the_network_knows_it_too(strategy: str) -> None:
    """A node that names nothing beside one that holds two operators."""
    made = restrict(problem((1.0,) * 4, ({"memory": 2}, {"memory": 0}, {})), np.array([0, 2]))
    result = plan(made, strategy)
    assert result.placement is not None
    assert check(made, result.placement) == ()
    assert np.count_nonzero(result.placement == 0) <= 2


def test_a_document_leaves_it_unnamed() -> None:
    made = problem((1.0, 2.0), ({"memory": 2}, {}))
    document = to_document(made)
    assert [node["capacity"] for node in document["network"]["nodes"]] == [{"memory": 2.0}, {}]
    assert parse_instance(document).capacity.tolist() == made.capacity.tolist()
