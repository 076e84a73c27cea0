from __future__ import annotations

import numpy as np

from scheduler.model.node_sets import Kinds, NodeSets
from scheduler.model.problem import Operator

INDEX = {"x": 0, "y": 1, "z": 2}


def test_operators_with_the_same_nodes_share_a_set() -> None:
    """Also when the names come in another order, and when all names are listed."""
    lists = [("x", "y"), None, ("y", "x"), ("x", "y", "z"), ()]
    reach = NodeSets.of([Operator(f"o{k}", allowed=each) for k, each in enumerate(lists)], INDEX)

    assert reach.member.tolist() == [0, 1, 0, 1, 2]
    assert reach.choices.tolist() == [2, 3, 2, 3, 0]
    assert reach.dense().tolist() == [
        [True, True, False],
        [True, True, True],
        [True, True, False],
        [True, True, True],
        [False, False, False],
    ]


def test_one_set_for_all_takes_no_memory_per_operator() -> None:
    """A thousand operators that may run anywhere share one row."""
    dense = NodeSets.of([Operator(f"o{k}") for k in range(1000)], INDEX).dense()

    assert dense.shape == (1000, 3)
    assert dense.strides[0] == 0
    assert dense.all()


def test_extremes_are_those_of_the_allowed_nodes() -> None:
    """An operator without any sees all nodes, so that bounds stay numbers."""
    operators = [Operator("a", allowed=("y", "z")), Operator("b", allowed=()), Operator("c")]
    least, most = NodeSets.of(operators, INDEX).extremes(np.array([5.0, 1.0, 3.0]))

    assert (least.tolist(), most.tolist()) == ([1.0, 1.0, 1.0], [3.0, 5.0, 5.0])


def test_kinds_tell_operators_apart_by_demand_and_nodes() -> None:
    """Alike for all constraints means both."""
    operators = [Operator("a"), Operator("b", allowed=("x",)), Operator("c"), Operator("d")]
    demand = np.array([[1.0], [1.0], [1.0], [2.0]])
    kinds = Kinds.of(demand, NodeSets.of(operators, INDEX))

    assert kinds.member.tolist() == [0, 1, 0, 2]
    assert kinds.demand.tolist() == [[1.0], [1.0], [2.0]]
