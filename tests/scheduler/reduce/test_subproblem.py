from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import ELSEWHERE, UNPLACED, Application, Network, Node, Operator, Problem, Stream
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray
    from tests.scheduler.conftest import MakeProblem


@given(seed=st.integers(0, 10_000), data=st.data())
def test_a_placement_has_the_same_worth_in_the_whole_and_in_the_part(
    make_problem: MakeProblem, seed: int, data: st.DataObject
) -> None:
    """Whatever the nodes: all metrics, F and the broken constraints are those of the lifted placement.

    Ranges without width are computed anew: a pinned operator may make the longest path the same everywhere.
    """
    whole = make_problem(seed, 6, 9)
    assume(all(low < high for name, (low, high) in whole.ranges.items() if whole.objective.weights[name]))
    nodes = np.array(data.draw(st.lists(st.integers(0, 8), min_size=1, unique=True)))
    part = restrict(whole, nodes)
    inside = np.array(data.draw(st.lists(st.integers(0, len(nodes) - 1), min_size=6, max_size=6)))

    worth, lifted = evaluate(part, inside), evaluate(whole, nodes[inside])
    assert worth.objective == pytest.approx(lifted.objective, abs=1e-12)
    assert worth == replace(lifted, objective=worth.objective, values=worth.values)
    assert worth.values == pytest.approx(lifted.values)
    assert set(check(part, inside)) == set(check(whole, nodes[inside]))


def test_the_current_placement_comes_along_as_far_as_its_nodes_are_there(make_problem: MakeProblem) -> None:
    """What runs on nodes that are left out runs elsewhere, what runs nowhere does so in the part too."""
    current = np.array([4, 2, UNPLACED, 0, 2])
    whole = replace(make_problem(1, 5, 6), current=current)
    part = restrict(whole, np.array([0, 2, 3]))

    assert part.current is not None
    assert part.current.tolist() == [ELSEWHERE, 1, UNPLACED, 0, 1]
    smallest = restrict(restrict(part, np.array([1])), np.array([0]))
    assert smallest.current is not None
    assert smallest.current.tolist() == [ELSEWHERE, 0, UNPLACED, ELSEWHERE, 0]


def test_what_leaving_the_current_node_costs_is_the_same_in_the_part(make_problem: MakeProblem) -> None:
    """Executors that restart, as a metric of later records would count them: also those from elsewhere."""

    def restarted(problem: Problem) -> BoolArray:
        current = problem.current
        assert current is not None
        leaves: BoolArray = current[:, None] != np.arange(problem.n_nodes)
        return leaves & (current[:, None] != UNPLACED)

    nodes = np.array([0, 2, 3])
    whole = replace(make_problem(1, 5, 6), current=np.array([4, 2, UNPLACED, 0, 2]))

    assert restarted(restrict(whole, nodes)).tolist() == restarted(whole)[:, nodes].tolist()


def test_an_operator_may_be_left_without_a_node() -> None:
    """A part may have no placement; it is still a problem."""
    operators = (Operator("a", allowed=("x",)), Operator("b"))
    nodes = (Node("x", {"slots": 2}), Node("y", {"slots": 2}))
    whole = Problem(Application(operators, (Stream("a", "b"),)), Network(nodes, 1.0 - np.eye(2)))
    part = restrict(whole, np.array([1]))

    assert part.allowed.tolist() == [[False], [True]]
    assert check(part, np.array([0, 0]))[0].message == "operator a is not allowed on node y"


def test_a_metric_without_width_stays_without_weight() -> None:
    """All placements are alike in response time, so F is 0 in the whole and in the part."""
    nodes = tuple(Node(name, {"slots": 1}) for name in "xyz")
    whole = Problem(Application((Operator("a", 3.0),)), Network(nodes, np.zeros((3, 3))))
    part = restrict(whole, np.array([1, 2]))

    assert evaluate(whole, np.array([2])).objective == 0.0
    assert evaluate(part, np.array([1])).objective == 0.0
