from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.construct.first_fit import NodeOrder, place_in_order
from scheduler.evaluation.evaluate import check
from scheduler.model.problem import Application, Network, Node, Operator, Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements


def problem(operators: list[Operator], capacity: dict[str, float], resource: str = "slots") -> Problem:
    nodes = tuple(Node(name, {resource: amount}) for name, amount in capacity.items())
    return Problem(Application(tuple(operators)), Network(nodes, np.zeros((len(nodes), len(nodes)))))


def placed(given_problem: Problem, order: list[int]) -> list[int] | str:
    suggestion = place_in_order(given_problem, NodeOrder(np.array(order)), range(given_problem.n_ops))
    return suggestion.reason if suggestion.placement is None else suggestion.placement.tolist()


def test_each_operator_takes_the_first_node_with_room() -> None:
    """Nodes fill up in the order of the list; a later, smaller operator still finds an earlier gap."""
    operators = [Operator(f"o{k}", demand={"slots": d}) for k, d in enumerate((2, 2, 1))]

    assert placed(problem(operators, {"x": 3, "y": 3}), [1, 0]) == [1, 0, 1]


def test_pinned_operators_keep_their_room() -> None:
    """A pin at the end of the sequence is served first, and the others keep their order."""
    operators = [Operator("a"), Operator("b", allowed=("y", "z")), Operator("c", allowed=("x",))]

    assert placed(problem(operators, {"x": 1, "y": 1, "z": 1}), [0, 1, 2]) == [1, 2, 0]


def test_capacity_tolerates_rounding() -> None:
    """Operators of 0.1 and 0.2 are placed on a node of 0.3, though 0.3 - 0.1 is a little less than 0.2."""
    operators = [Operator("a", demand={"cpu": 0.1}), Operator("b", demand={"cpu": 0.2})]

    assert placed(problem(operators, {"x": 0.3}, "cpu"), [0]) == [0, 0]


def test_restricted_operators_go_first_where_first_fit_alone_gets_stuck() -> None:
    """c may run on x and y only, which a and b would fill."""
    operators = [Operator("a"), Operator("b"), Operator("c", allowed=("x", "y"))]

    assert placed(problem(operators, {"x": 1, "y": 1, "z": 1}), [0, 1, 2]) == [1, 2, 0]


def test_a_chain_of_displacements_makes_room() -> None:
    """All may run on two nodes each; the last one only fits if two others move on."""
    operators = [
        Operator("a", allowed=("x", "y")),
        Operator("b", allowed=("y", "z")),
        Operator("c", allowed=("x", "w")),
        Operator("d", allowed=("x", "y")),
    ]

    assert placed(problem(operators, {"x": 1, "y": 1, "z": 1, "w": 1}), [0, 1, 2, 3]) == [0, 2, 3, 1]


def test_what_is_not_proved_is_not_claimed() -> None:
    """7 + 3 and 5 + 6 would fill both nodes; the heuristic misses it and says only that it found nothing."""
    operators = [Operator(f"o{k}", demand={"cpu": d}) for k, d in enumerate((7, 5, 3, 6))]
    given_problem = problem(operators, {"x": 11, "y": 10}, "cpu")
    suggestion = place_in_order(given_problem, NodeOrder(np.array([0, 1])), range(4))

    assert not suggestion.proved
    assert suggestion.reason == (
        "no room was found for operator o1, though it is not proved that none exists"
    )


@given(
    st.lists(st.sets(st.sampled_from("xyz"), min_size=1), min_size=1, max_size=5),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.permutations([0, 1, 2]),
)
def test_with_equal_demands_a_placement_is_found_whenever_one_exists(
    feasible_placements: FeasiblePlacements, allowed: list[set[str]], slots: list[int], order: list[int]
) -> None:
    """Displacement chains are augmenting paths, so nothing is missed, and failure is proved."""
    operators = [Operator(f"o{k}", allowed=tuple(sorted(nodes))) for k, nodes in enumerate(allowed)]
    given_problem = problem(operators, dict(zip("xyz", map(float, slots), strict=True)))
    suggestion = place_in_order(given_problem, NodeOrder(np.array(order)), range(len(operators)))

    exists = next(feasible_placements(given_problem), None) is not None
    assert (suggestion.placement is not None) == exists
    if suggestion.placement is None:
        assert suggestion.proved
    else:
        assert check(given_problem, suggestion.placement) == ()


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=7), st.lists(st.integers(1, 8), min_size=1, max_size=3)
)
def test_with_different_demands_answers_are_feasible_or_honest(demands: list[int], sizes: list[int]) -> None:
    """A placement keeps to capacity; a failure without proof says that it is none."""
    operators = [Operator(f"o{k}", demand={"cpu": d}) for k, d in enumerate(demands)]
    given_problem = problem(operators, {f"n{k}": float(s) for k, s in enumerate(sizes)}, "cpu")
    suggestion = place_in_order(given_problem, NodeOrder(np.arange(len(sizes))), range(len(demands)))

    if suggestion.placement is not None:
        assert check(given_problem, suggestion.placement) == ()
    elif not suggestion.proved:
        assert "not proved" in suggestion.reason


def by_definition(given_problem: Problem, order: list[int], onward: bool) -> list[int] | None:
    """First-fit node by node, as it is described; None if an operator finds no room."""
    free, placement, start = given_problem.capacity.copy(), [], 0
    for i in range(given_problem.n_ops):
        tried = order[start:] + order[:start]
        fitting = [
            u
            for u in tried
            if given_problem.allowed[i, u] and (given_problem.demand[i] <= free[u] + 1e-9).all()
        ]
        if not fitting:
            return None
        placement.append(fitting[0])
        free[fitting[0]] -= given_problem.demand[i]
        start = (order.index(fitting[0]) + 1) % len(order) if onward else 0
    return placement


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([None, ("n0", "n2"), ("n1", "n3", "n4")])),
        min_size=1,
        max_size=20,
    ),
    st.lists(st.integers(0, 6), min_size=5, max_size=5),
    st.permutations(range(5)),
    st.booleans(),
    st.sampled_from([1, 3, 100]),
)
def test_runs_marks_and_windows_change_no_placement(
    demands: list[tuple[int, tuple[str, ...] | None]],
    sizes: list[int],
    order: list[int],
    onward: bool,
    long_run: int,
) -> None:
    """Operators placed together, or from where their kind last found room, go where first-fit says."""
    operators = [Operator(f"o{k}", demand={"cpu": d}, allowed=a) for k, (d, a) in enumerate(demands)]
    given_problem = problem(operators, {f"n{k}": float(s) for k, s in enumerate(sizes)}, "cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler.construct.first_fit.LONG_RUN", long_run)
        patch.setattr("scheduler.base.arrays.FIRST_WINDOW", 1)
        nodes = NodeOrder(np.array(order), onward)
        suggestion = place_in_order(given_problem, nodes, range(len(operators)))

    expected = by_definition(given_problem, order, onward)
    if expected is not None:
        assert suggestion.placement is not None
        assert suggestion.reason == "first-fit placed every operator"
        assert suggestion.placement.tolist() == expected
    else:
        assert suggestion.reason != "first-fit placed every operator"


def test_thousands_of_operators_that_do_not_fit_are_refused_soon() -> None:
    """The proof comes before the repair, and like operators and nodes are one vertex of it."""
    operators = [Operator(f"o{k}") for k in range(3000)]
    suggestion = place_in_order(
        problem(operators, {f"n{k}": 2.0 for k in range(1000)}), NodeOrder(np.arange(1000)), range(3000)
    )

    assert suggestion.proved
    assert suggestion.reason == (
        "operators o0, o1, o2, o3, o4 and 2995 more demand 3000 slots, "
        "all nodes together have 2000 (1000 short)"
    )
