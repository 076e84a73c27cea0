from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import check
from scheduler.model.feasibility import prove_infeasible
from scheduler.model.problem import Application, Network, Node, Operator, Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements, RichProblem


def problem(operators: list[Operator], **capacity: dict[str, float]) -> Problem:
    nodes = tuple(Node(name, amounts) for name, amounts in capacity.items())
    return Problem(Application(tuple(operators)), Network(nodes, np.zeros((len(nodes), len(nodes)))))


ONE = {"slots": 1.0}


@pytest.mark.parametrize("seed", range(6))
def test_the_placements_that_tests_compare_with_are_those_that_pass_the_check(
    rich_problem: RichProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """They are enumerated by a check of their own; both know pins, capacities and limits."""
    rich = rich_problem(seed, 4, 4)
    every = product(range(rich.n_nodes), repeat=rich.n_ops)
    passing = [nodes for nodes in every if not check(rich, np.array(nodes))]
    assert 0 < len(passing) < rich.n_nodes**rich.n_ops
    assert [tuple(each.tolist()) for each in feasible_placements(rich)] == passing


@pytest.mark.parametrize(
    ("operators", "capacity", "reason"),
    [
        ([Operator("a", allowed=())], {"x": ONE}, "operator a is allowed on no node"),
        (
            [Operator("a", demand={"slots": 3})],
            {"x": ONE, "y": {"slots": 2.0}},
            "operator a demands 3 slots, more than any node has (at most 2)",
        ),
        (
            [Operator("a", demand={"gpu": 1}, allowed=("x",))],
            {"x": {"slots": 1.0, "gpu": 0.0}, "y": {"gpu": 2.0}},
            "operator a demands 1 gpu, more than any node allowed for it has (at most 0)",
        ),
        (
            [Operator("a", demand={"cpu": 2, "gpu": 2})],
            {"x": {"cpu": 2.0, "gpu": 1.0}, "y": {"cpu": 1.0, "gpu": 2.0}},
            "operator a demands resources that any node has only separately",
        ),
        (
            # y has no end of slots, and is no help to who may not go there
            [Operator("a", allowed=("x",)), Operator("b", allowed=("x",)), Operator("c")],
            {"x": ONE, "y": {"cpu": 1.0}},
            "operators a, b demand 2 slots, the only nodes for them, x, have 1 (1 short)",
        ),
        (
            [Operator("a"), Operator("b"), Operator("c")],
            {"x": ONE, "y": ONE},
            "operators a, b, c demand 3 slots, all nodes together have 2 (1 short)",
        ),
        (
            [Operator("a", allowed=("x",)), Operator("b", allowed=("x",)), Operator("c")],
            {"x": ONE, "y": {"slots": 9.0}},
            "operators a, b demand 2 slots, the only nodes for them, x, have 1 (1 short)",
        ),
        (
            [Operator(name, demand={"slots": 2}) for name in "abc"],
            {"x": {"slots": 3.0}, "y": {"slots": 3.0}},
            "operators a, b, c demand 3 operators of this demand, all nodes together have 2 (1 short)",
        ),
        (
            # each node has room for many by one of its resources, and for one by the other
            [Operator(name, demand={"cpu": 2, "memory": 2}) for name in "abc"],
            {"x": {"cpu": 2.0, "memory": 20.0}, "y": {"cpu": 20.0, "memory": 2.0}},
            "operators a, b, c demand 3 operators of this demand, all nodes together have 2 (1 short)",
        ),
        (
            # fractions of them would fit
            [Operator(name, demand={"memory": size}) for name, size in zip("abc", (6, 7, 8), strict=True)],
            {"x": {"memory": 11.0}, "y": {"memory": 11.0}},
            "operators a, b, c demand 3 places for 6 memory or more, all nodes together have 2 (1 short)",
        ),
    ],
)
def test_the_reason_names_operators_and_capacity(
    operators: list[Operator], capacity: dict[str, dict[str, float]], reason: str
) -> None:
    """Each kind of conflict is stated with names and amounts."""
    assert prove_infeasible(problem(operators, **capacity)) == reason


@given(
    st.lists(st.sets(st.sampled_from("xyz"), min_size=1), min_size=1, max_size=5),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
)
def test_with_equal_demands_the_proof_is_exact(
    feasible_placements: FeasiblePlacements, allowed: list[set[str]], slots: list[int]
) -> None:
    """A proof is given if and only if no placement exists."""
    operators = [Operator(f"o{k}", allowed=tuple(sorted(nodes))) for k, nodes in enumerate(allowed)]
    capacity = {name: {"slots": float(count)} for name, count in zip("xyz", slots, strict=True)}
    given_problem = problem(operators, **capacity)

    exists = next(feasible_placements(given_problem), None) is not None
    assert (prove_infeasible(given_problem) is None) == exists


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=3),
)
def test_a_proof_is_never_wrong(
    feasible_placements: FeasiblePlacements, demands: list[tuple[int, int]], capacities: list[tuple[int, int]]
) -> None:
    """With different demands of several resources too, what is proved infeasible has no placement."""
    operators = [Operator(f"o{k}", demand={"cpu": c, "memory": m}) for k, (c, m) in enumerate(demands)]
    capacity = {f"n{k}": {"cpu": float(c), "memory": float(m)} for k, (c, m) in enumerate(capacities)}
    given_problem = problem(operators, **capacity)

    if prove_infeasible(given_problem) is not None:
        assert next(feasible_placements(given_problem), None) is None
