from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.constraints.separation import CoLocationLimit
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem, RichProblem


@given(st.integers(0, 500), st.integers(1, 12), st.integers(1, 8))
def test_each_column_is_worth_what_evaluating_it_alone_says(
    make_problem: MakeProblem, seed: int, n_ops: int, n_nodes: int
) -> None:
    """Many placements at once or one by one: F and mean delay are the same."""
    problem = make_problem(seed, n_ops, n_nodes)
    placements = np.random.default_rng(seed).integers(n_nodes, size=(n_ops, 5))
    objective, mean = BatchEvaluator(problem)(placements)
    for column in range(5):
        worth = evaluate(problem, placements[:, column].copy())
        assert objective[column] == pytest.approx(worth.objective, abs=1e-9)
        assert mean[column] == pytest.approx(worth.mean_delay_ms, abs=1e-9)


def test_long_segments_between_junctions_add_up() -> None:
    """A chain beside a short cut, prices, traffic, and a stream to itself are all counted."""
    operators = tuple(Operator(name, 1.0 + k) for k, name in enumerate("abcdef"))
    streams = (*(Stream(a, b, 2.0, 3.0) for a, b in zip("abcd", "bcde", strict=True)),)
    streams = (*streams, Stream("a", "e"), Stream("c", "c", critical=False), Stream("e", "a", critical=False))
    nodes = tuple(Node(f"n{u}", {"slots": 6}, speedup=1.0 + u, cost=float(u)) for u in range(4))
    random = np.random.default_rng(1)
    delay, price = (random.uniform(1.0, 9.0, (4, 4)) * (1.0 - np.eye(4)) for _ in range(2))
    weights = {"response_time": 0.25, "inter_node_traffic": 0.25, "cost": 0.25, "network_usage": 0.25}
    network = Network(nodes, delay, link_cost=price)
    problem = Problem(Application(operators, streams), network, Objective(weights))
    placements = random.integers(4, size=(6, 40))
    objective, _ = BatchEvaluator(problem)(placements)

    assert objective == pytest.approx([evaluate(problem, each.copy()).objective for each in placements.T])


@given(st.integers(0, 500))
def test_constraints_are_met_exactly_where_the_check_finds_none_broken(seed: int) -> None:
    """Allowed nodes, several resources and limits of co-location are seen in every column."""
    random = np.random.default_rng(seed)
    operators = tuple(
        Operator(f"o{i}", demand={"slots": 1.0, "mb": float(random.integers(4))}, allowed=allowed)
        for i, allowed in enumerate([("x",), None, ("x", "y"), None, None])
    )
    nodes = tuple(Node(name, {"slots": 3.0, "mb": float(random.integers(3, 8))}) for name in "xyz")
    limits = (CoLocationLimit(("o1", "o3", "o4"), int(random.integers(1, 3))),)
    problem = Problem(Application(operators), Network(nodes, np.zeros((3, 3))), constraints=limits)
    placements = random.integers(3, size=(5, 60))
    placements[0] = 0
    constraints = BatchConstraints(problem)

    assert not constraints.interchangeable
    expected = [check(problem, each.copy()) == () for each in placements.T]
    assert constraints.met(placements).tolist() == expected


def test_room_is_what_an_operator_finds_beside_those_that_are_there() -> None:
    """Two slots: a third operator finds none; on the empty node it does."""
    nodes = tuple(Node(name, {"slots": 2.0}) for name in "xy")
    problem = Problem(Application(tuple(Operator(o) for o in "abc")), Network(nodes, np.zeros((2, 2))))
    constraints = BatchConstraints(problem)
    placements = np.array([[0, 0], [0, 0], [1, 1]])

    assert constraints.interchangeable
    assert constraints.has_room(placements, np.array([2, 1]), np.array([0, 1])).tolist() == [False, True]


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_rules_count_for_batches_too(ruled_problem: RichProblem, seed: int) -> None:
    """As the check says, column by column; operators may not trade places unasked."""
    problem = ruled_problem(seed, 4, 4)
    constraints = BatchConstraints(problem)
    placements = np.random.default_rng(seed).integers(4, size=(4, 200))

    assert not constraints.interchangeable
    met = constraints.met(placements).tolist()
    assert met == [not check(problem, each.copy()) for each in placements.T]
