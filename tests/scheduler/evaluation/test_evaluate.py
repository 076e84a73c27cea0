from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream

if TYPE_CHECKING:
    from tests.scheduler.conftest import Independent, MakeProblem


def test_metrics_of_a_chain_worked_out_by_hand(chain: Problem) -> None:
    """a on x, b on y (twice as fast), c on z: delays 10 and 30 ms, equations 5 to 14."""
    worth = evaluate(chain, np.array([0, 1, 2]))

    assert worth.response_time_ms == pytest.approx(2 + 10 + 4 / 2 + 30 + 6)
    assert worth.values["availability"] == pytest.approx(0.9 * 0.8 * 1.0 * 0.5 * 0.25)
    assert worth.values["network_usage"] == pytest.approx(10 * 100 * 0.010 + 5 * 200 * 0.030)
    assert worth.mean_delay_ms == pytest.approx((10 * 10 + 5 * 30) / 15)
    assert worth.objective == pytest.approx((50 - 7) / (63 - 7))
    assert worth.critical_path == (0, 1, 2)


def test_operators_on_one_node_pay_neither_delay_nor_link(chain: Problem) -> None:
    """A node reaches itself at once and always."""
    worth = evaluate(chain, np.array([0, 2, 2]))

    assert worth.response_time_ms == pytest.approx(2 + 20 + 4 + 6)
    assert worth.values["availability"] == pytest.approx(0.9)


@given(st.integers(0, 200), st.integers(1, 9), st.integers(1, 6))
def test_metrics_agree_with_path_enumeration(
    make_problem: MakeProblem, independent: type[Independent], seed: int, n_ops: int, n_nodes: int
) -> None:
    """Potentials give what enumerating every source-to-sink path gives, whatever the placement."""
    problem = make_problem(seed, n_ops, n_nodes)
    placement = np.random.default_rng(seed).integers(0, n_nodes, n_ops)
    worth, expected = evaluate(problem, placement), independent.of(problem, placement)

    assert worth.response_time_ms == pytest.approx(expected.response_time_ms)
    assert worth.values["availability"] == pytest.approx(expected.availability)
    assert worth.values["network_usage"] == pytest.approx(expected.network_usage_bytes)
    assert worth.mean_delay_ms == pytest.approx(expected.mean_delay_ms)


def test_the_critical_path_takes_the_response_time(hundred_nodes: Problem) -> None:
    """Its executions and hops add up to R, from a source to a sink."""
    problem = hundred_nodes
    application = problem.application
    placement = np.random.default_rng(0).integers(0, 100, problem.n_ops)
    worth = evaluate(problem, placement)
    path = worth.critical_path
    hops = list(pairwise(path))
    edges = application.critical_edges()

    assert all(hop in edges for hop in hops)
    assert path[0] not in {target for _, target in edges}
    assert path[-1] not in {source for source, _ in edges}
    total = sum(problem.execution_ms[i, placement[i]] for i in path)
    total += sum(problem.network.delay_ms[placement[i], placement[j]] for i, j in hops)
    assert total == pytest.approx(worth.response_time_ms)


def test_streams_that_are_not_critical_leave_response_time_alone() -> None:
    """Acknowledgements count for usage and mean delay only."""
    operators = (Operator("a", 1.0), Operator("b", 1.0), Operator("acker", 0.0))
    streams = (
        Stream("a", "b", 1.0, 1.0),
        Stream("a", "acker", 3.0, 10.0, critical=False),
        Stream("acker", "a", 0.0, 1.0, critical=False),
    )
    network = Network(
        (Node("x", {"slots": 3}), Node("y", {"slots": 3})), np.array([[0.0, 50.0], [50.0, 0.0]])
    )
    worth = evaluate(Problem(Application(operators, streams), network), np.array([0, 0, 1]))

    assert worth.response_time_ms == pytest.approx(2.0)
    assert worth.values["network_usage"] == pytest.approx(3 * 10 * 0.05)
    assert worth.mean_delay_ms == pytest.approx(3 * 50 / 4)


@pytest.mark.parametrize(
    ("placement", "messages"),
    [
        ([0, 1, 2], []),
        ([0, 1], ["(2,) is not one node for each of 3 operators"]),
        ([0, 1, 3], ["operator c is on node 3, which does not exist"]),
        ([-1, 1, 2], ["operator a is on node -1, which does not exist"]),
        ([1, 0, 2], ["operator a is not allowed on node y"]),
        ([0, 0, 0], ["node x has 2 slots, 3 are demanded"]),
    ],
)
def test_every_broken_constraint_is_named(chain: Problem, placement: list[int], messages: list[str]) -> None:
    """Shape, nodes, allowed nodes and capacity are checked."""
    assert [violation.message for violation in check(chain, np.array(placement))] == messages


def test_capacity_tolerates_rounding() -> None:
    """Ten operators of 0.1 fit a node of 1."""
    operators = tuple(Operator(f"o{i}", demand={"cpu": 0.1}) for i in range(10))
    problem = Problem(Application(operators), Network((Node("x", {"cpu": 1.0}),), np.zeros((1, 1))))

    assert check(problem, np.zeros(10, dtype=np.int64)) == ()
