from __future__ import annotations

import pickle

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.model.problem import Application, Network, Node, Operator, Problem


def small(*operators: Operator, **extra: object) -> Problem:
    nodes = (Node("x", {"slots": 2, "cpu": 1}), Node("y", {"slots": 1}))
    network = Network(nodes, np.zeros((2, 2)))
    return Problem(Application(operators), network, **extra)  # type: ignore[arg-type]  # bad values on purpose


def test_an_allowed_node_must_exist() -> None:
    """The place names operator and entry."""
    with pytest.raises(
        ModelError, match=r'application.operators\[1\].allowed\[1\]: "w" is not a node of the network'
    ):
        small(Operator("a"), Operator("b", allowed=("x", "w")))


@pytest.mark.parametrize(
    ("current", "message"),
    [
        ([0], r"current: expected 2 node indices, got shape \(1,\)"),
        ([0, 2], r"current\[1\]: expected a node index, -1, -2 or -3, got 2"),
        ([-4, 0], r"current\[0\]: expected a node index, -1, -2 or -3, got -4"),
        ([0.0, 1.0], "current: expected 2 node indices"),
    ],
)
def test_a_current_placement_names_nodes_or_none(current: list[float], message: str) -> None:
    """One index per operator, -1 for an operator that runs nowhere."""
    with pytest.raises(ModelError, match=message):
        small(Operator("a"), Operator("b"), current=np.array(current))


def test_resources_are_those_demanded_and_a_node_without_one_has_enough_for_all() -> None:
    """Rows of demand and capacity share their columns; no amount is infinite."""
    problem = small(Operator("a", demand={"cpu": 0.5}), Operator("b"))

    assert problem.resources == ("cpu", "slots")
    assert problem.demand.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert problem.capacity.tolist() == [[1.0, 2.0], [2 * 0.5, 1.0]]


def test_problems_travel_between_processes(chain: Problem) -> None:
    """A pickled problem, and an error, arrive equal."""
    copy = pickle.loads(pickle.dumps(chain))  # noqa: S301  # our own bytes
    error = pickle.loads(pickle.dumps(ModelError("a.b", "wrong")))  # noqa: S301  # our own bytes

    assert copy.ranges == chain.ranges
    assert (copy.execution_ms == chain.execution_ms).all()
    assert (error.where, error.message) == ("a.b", "wrong")
