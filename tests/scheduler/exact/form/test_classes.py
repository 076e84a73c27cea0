"""Classes of exchangeable operators."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.linear_form import linear_form
from scheduler.exact.form.class_form import class_form
from scheduler.exact.form.classes import exchangeable_classes
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream

if TYPE_CHECKING:
    from tests.scheduler.small_problems import AnyProblem


def problem_of(operators: tuple[Operator, ...], streams: tuple[Stream, ...]) -> Problem:
    random = np.random.default_rng(1)
    delay = random.uniform(1, 9, (4, 4))
    np.fill_diagonal(delay, 0.0)
    nodes = tuple(Node(f"n{u}", {"slots": 2.0}, availability=0.9 + 0.01 * u) for u in range(4))
    return Problem(Application(operators, streams), Network(nodes, delay))


def classes(problem: Problem) -> list[list[int]]:
    return [members.tolist() for members in exchangeable_classes(problem, linear_form(problem))]


def test_replicas_between_the_same_neighbours_form_a_class() -> None:
    """a feeds three equal replicas, which feed e."""
    streams = tuple(Stream("a", x) for x in "bcd") + tuple(Stream(x, "e") for x in "bcd")
    assert classes(problem_of(tuple(Operator(x) for x in "abcde"), streams)) == [[0], [1, 2, 3], [4]]


def test_what_tells_operators_apart_keeps_them_apart() -> None:
    """Execution time, demand, allowed nodes, criticality of a stream, or a stream of their own."""
    base = {x: Operator(x) for x in "abc"}
    streams = (Stream("a", "b"), Stream("a", "c"))
    changes = (Operator("c", 5.0), Operator("c", demand={"slots": 2}), Operator("c", allowed=("n0", "n1")))

    assert classes(problem_of(tuple(base.values()), streams)) == [[0], [1, 2]]
    for changed in changes:
        assert classes(problem_of((base["a"], base["b"], changed), streams)) == [[0], [1], [2]]
    uncritical = (streams[0], Stream("a", "c", critical=False))
    assert classes(problem_of(tuple(base.values()), uncritical)) == [[0], [1], [2]]
    joined = (*streams, Stream("b", "c", critical=False), Stream("c", "b", critical=False))
    assert [0] in classes(problem_of(tuple(base.values()), streams))
    assert classes(problem_of(tuple(base.values()), joined)) == [
        [0],
        [1, 2],
    ]  # their streams weigh nothing in R


@given(seed=st.integers(0, 10_000), n_ops=st.integers(2, 6))
@settings(max_examples=40)
def test_swapping_members_changes_nothing_and_counts_say_all(
    any_problem: AnyProblem, seed: int, n_ops: int
) -> None:
    """F of a placement is that of its counts, whoever of a class is where."""
    problem = any_problem(seed, n_ops, 4)
    form = class_form(problem)
    placement = np.random.default_rng(seed).integers(4, size=n_ops)
    worth = evaluate(problem, placement).objective
    for members in form.classes:
        for i, j in combinations(members.tolist(), 2):
            swapped = placement.copy()
            swapped[[i, j]] = placement[[j, i]]
            assert abs(evaluate(problem, swapped).objective - worth) < 1e-12
    counts = np.zeros((form.n_classes, form.n_nodes), dtype=np.int64)
    for c, members in enumerate(form.classes):
        np.add.at(counts[c], placement[members], 1)
    assert abs(evaluate(problem, form.placement(counts)).objective - worth) < 1e-12
    if form.response_factor == 0:
        pairs = sum(
            float(counts[edge.source] @ edge.cost @ counts[edge.target])
            for edge in form.edges
            if edge.cost is not None
        )
        assert abs(form.constant + float((form.unary * counts).sum()) + pairs - worth) < 1e-9
