from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.evaluation.evaluate import evaluate
from scheduler.model.link_table import Coordinates
from scheduler.model.metrics.catalogue import RANGED
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@pytest.mark.parametrize("seed", range(8))
def test_no_placement_leaves_the_computed_ranges(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """Every placement on allowed nodes has metrics within the ranges, so F lies in [0, 1]."""
    problem = make_problem(seed, 4, 4)
    for placement in feasible_placements(problem):
        worth = evaluate(problem, placement)
        for metric in RANGED:
            low, high = problem.ranges[metric]
            value = worth.values[metric]
            assert low * (1 - 1e-9) <= value <= high * (1 + 1e-9)
        assert -1e-9 <= worth.objective <= 1 + 1e-9


def test_the_bounds_of_a_chain_worked_out_by_hand(chain: Problem) -> None:
    """Best: pinned a at speed 1, b and c at speed-up 2, no hops. Worst: speed 1, 20 ms from x, then 31 ms."""
    assert chain.ranges["response_time"] == pytest.approx((2 + 2 + 3, 2 + 4 + 6 + 20 + 31))
    assert chain.ranges["availability"] == pytest.approx((0.9 * 0.8 * 0.8 * 0.5 * 0.25, 0.9 * 1 * 1))
    assert chain.ranges["network_usage"] == pytest.approx((0.0, 1000 * 0.020 + 1000 * 0.031))


def test_operators_pinned_apart_pay_their_delay_at_best() -> None:
    """The lower bound knows that two pinned operators cannot share a node."""
    operators = (Operator("a", 1.0, allowed=("x",)), Operator("b", 1.0, allowed=("y",)))
    network = Network((Node("x", {"slots": 1}), Node("y", {"slots": 1})), np.array([[0.0, 9.0], [5.0, 0.0]]))
    problem = Problem(Application(operators, (Stream("a", "b"),)), network)

    assert problem.ranges["response_time"] == pytest.approx((11.0, 11.0))
    assert evaluate(problem, np.array([0, 1])).objective == 0.0


def test_a_given_range_replaces_the_computed_one(chain: Problem) -> None:
    """What the user states is used as it is; what is missing is computed."""
    problem = Problem(chain.application, chain.network, Objective(ranges={"response_time": (0.0, 100.0)}))

    assert problem.ranges["response_time"] == (0.0, 100.0)
    assert problem.ranges["network_usage"] == chain.ranges["network_usage"]


def test_a_stream_from_an_operator_to_itself_widens_no_range() -> None:
    """It never leaves its node, wherever that is."""
    network = Network((Node("x", {"slots": 1}), Node("y", {"slots": 1})), np.array([[0.0, 9.0], [5.0, 0.0]]))
    application = Application((Operator("a", 1.0),), (Stream("a", "a", critical=False),))

    assert Problem(application, network).ranges["network_usage"] == (0.0, 0.0)


def test_the_bounds_of_many_coordinates_hold_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pairs of nodes are too many to look at, no placement leaves the ranges either."""
    monkeypatch.setattr("scheduler.model.ranges.BLOCK_VALUES", 0)
    random = np.random.default_rng(4)
    operators = (
        Operator("a", 1.0, allowed=("n0", "n1")),
        Operator("b", 2.0),
        Operator("c", allowed=("n2", "n3")),
    )
    nodes = tuple(Node(f"n{u}", {"slots": 3}) for u in range(5))
    network = Network(nodes, Coordinates.of(random.uniform(0.0, 50.0, (5, 4))))
    application = Application(
        operators, (Stream("a", "b", 3.0, 9.0), Stream("b", "c"), Stream("a", "c", 2.0, 5.0))
    )
    objective = Objective({"response_time": 0.5, "network_usage": 0.5})
    problem = Problem(application, network, objective)
    for placement in product((0, 1), range(5), (2, 3)):
        assert -1e-9 <= evaluate(problem, np.array(placement)).objective <= 1 + 1e-9
