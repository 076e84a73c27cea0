from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.construct.penalty import LinkPenalty, link_penalty
from scheduler.model.link_table import Coordinates
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


def on(network: Network, **weights: float) -> Problem:
    return Problem(Application((Operator("a"),)), network, Objective(weights))


@pytest.fixture
def two_nodes() -> Network:
    nodes = (Node("x", {"slots": 1}, availability=0.5), Node("y", {"slots": 1}, speedup=2.0))
    links = np.array([[1.0, 0.5], [1.0, 1.0]])
    return Network(nodes, np.array([[0.0, 8.0], [4.0, 0.0]]), links)


def test_response_penalty_adds_delay_and_two_reference_executions(two_nodes: Network) -> None:
    """R~: 2 on x, 8 + 1 + 0.5 from x to y, 4 + 1.5 from y to x, 1 on y; scaled to [0, 1]."""
    raw = np.array([[2.0, 9.5], [5.5, 1.0]])

    assert link_penalty(on(two_nodes, response_time=1.0)) == pytest.approx((raw - 1.0) / 8.5)


def test_availability_penalty_counts_a_shared_node_once(two_nodes: Network) -> None:
    """log A~: log 0.5 on x alone, two factors of 0.5 from x to y, one back, none on y."""
    expected = np.array([[0.5, 1.0], [0.5, 0.0]])

    assert link_penalty(on(two_nodes, availability=1.0)) == pytest.approx(expected)
    assert math.log(0.25) == pytest.approx(2 * math.log(0.5))


def test_usage_penalty_is_the_delay(two_nodes: Network) -> None:
    """Z~ is proportional to delay, so the longest link has penalty 1."""
    assert link_penalty(on(two_nodes, network_usage=1.0)) == pytest.approx(np.array([[0.0, 1.0], [0.5, 0.0]]))


def test_traffic_penalty_is_that_of_another_node(two_nodes: Network) -> None:
    assert link_penalty(on(two_nodes, inter_node_traffic=1.0)).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_cost_penalty_adds_both_nodes_and_the_link(two_nodes: Network) -> None:
    """C~: 2 x 1 on x, 1 + 3 + 4 from x to y, 1 + 3 back, 2 x 3 on y; scaled to [0, 1]."""
    nodes = tuple(replace(node, cost=cost) for node, cost in zip(two_nodes.nodes, (1.0, 3.0), strict=True))
    priced = Network(nodes, two_nodes.delay_ms, link_cost=np.array([[0.0, 4.0], [0.0, 0.0]]))
    expected = np.array([[0.0, 1.0], [1 / 3, 2 / 3]])

    assert link_penalty(on(priced, cost=1.0)) == pytest.approx(expected)


def test_penalties_are_weighed_like_the_objective(two_nodes: Network) -> None:
    """delta is the weighted sum of its parts."""
    parts = [
        link_penalty(on(two_nodes, **{m: 1.0})) for m in ("response_time", "availability", "network_usage")
    ]
    mixed = link_penalty(on(two_nodes, response_time=0.5, availability=0.3, network_usage=0.2))

    assert mixed == pytest.approx(0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2])


def test_a_metric_in_which_all_links_are_alike_adds_nothing() -> None:
    """A range of zero does not divide: the penalty is 0, not NaN."""
    network = Network((Node("x", {}), Node("y", {})), np.zeros((2, 2)))
    mixed = on(network, response_time=0.5, availability=0.25, network_usage=0.25)

    assert (link_penalty(mixed) == 0.0).all()


@pytest.mark.parametrize("block", [1 << 20, 8])
def test_single_columns_are_those_of_the_whole(
    make_problem: MakeProblem, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when extremes and sums are made piece by piece."""
    monkeypatch.setattr("scheduler.construct.penalty.BLOCK_VALUES", block)
    problem = make_problem(3, 5, 7)
    columns = np.array([4, 0, 6])
    whole, some = link_penalty(problem), LinkPenalty.of(problem)

    assert np.array_equal(some.columns(columns), whole[:, columns])
    assert some.order(columns).tolist() == np.argsort(whole[:, columns].sum(axis=1), kind="stable").tolist()


@given(st.integers(0, 999))
def test_bounds_of_many_coordinates_keep_penalties_in_order(seed: int) -> None:
    """With bounds instead of the extremes, delta stays in [0, 1], and R or Z alone sorts nodes as before."""
    random = np.random.default_rng(seed)
    nodes = tuple(
        Node(
            f"n{u}",
            {},
            speedup=float(random.uniform(0.2, 3)),
            availability=float(random.uniform(0.5, 1)),
            cost=float(random.uniform(0, 5)),
        )
        for u in range(9)
    )
    network = Network(nodes, Coordinates.of(random.uniform(0.0, 9.0, (9, 3))))
    weights = {"response_time": 0.4, "availability": 0.2, "network_usage": 0.2}
    problem = on(network, **weights, inter_node_traffic=0.1, cost=0.1)
    alone = on(network, response_time=1.0)
    exact = LinkPenalty.of(alone).order(np.array([2, 5]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler.construct.penalty.KEPT_MATRIX", 4)
        bounded = link_penalty(problem)
        assert LinkPenalty.of(alone).order(np.array([2, 5])).tolist() == exact.tolist()

    assert bounded.min() >= -1e-12
    assert bounded.max() <= 1 + 1e-12
