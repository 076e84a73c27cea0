from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.evaluation import moves
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.evaluation.moves import MoveCosts, MoveEvaluator, co_locations
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem, RichProblem


def start(problem: Problem) -> IntArray:
    placement = plan(problem, "even").placement
    assert placement is not None
    return placement


@given(st.integers(0, 500), st.integers(1, 10), st.integers(5, 7))
def test_every_single_move_is_worth_what_evaluating_it_says(
    make_problem: MakeProblem, seed: int, n_ops: int, n_nodes: int
) -> None:
    """The vectorised step agrees with a full evaluation of each move; what is infeasible is infinite."""
    problem = make_problem(seed, n_ops, n_nodes)
    placement = start(problem)
    costs = MoveEvaluator(problem).single_moves(placement, Deadline.none())
    for i in range(n_ops):
        for u in range(n_nodes):
            moved = placement.copy()
            moved[i] = u
            if u == placement[i] or check(problem, moved):
                assert np.isinf(costs.objective[i, u])
            else:
                worth = evaluate(problem, moved)
                assert costs.objective[i, u] == pytest.approx(worth.objective, abs=1e-9)
                assert costs.mean_delay_ms[i, u] == pytest.approx(worth.mean_delay_ms, abs=1e-9)


def test_blocks_of_operators_give_the_same_and_end_with_the_time(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In small blocks every move is worth the same; once time is up the other operators stay."""
    problem = make_problem(3, 10, 8, pins=False)
    placement = start(problem)
    whole = MoveEvaluator(problem).single_moves(placement, Deadline.none())
    monkeypatch.setattr(moves, "BLOCK", 16)
    evaluator = MoveEvaluator(problem)
    parts = evaluator.single_moves(placement, Deadline.none())
    cut = evaluator.single_moves(placement, Deadline(lambda: 1.0, at=0.0))

    assert np.isfinite(whole.objective[-1]).any()
    np.testing.assert_allclose(parts.objective, whole.objective)
    np.testing.assert_allclose(parts.mean_delay_ms, whole.mean_delay_ms)
    np.testing.assert_array_equal(cut.objective[0], parts.objective[0])
    assert np.isinf(cut.objective[-1]).all()


def test_equal_objectives_are_ranked_by_mean_delay() -> None:
    """Differences of F below a step do not count, then the lower mean delay wins, then the first."""
    costs = MoveCosts(np.array([0.5, 0.3 + 1e-12, 0.3, 0.3]), np.array([0.0, 2.0, 1.0, 1.0]))

    assert costs.best() == 2
    assert costs.rank(2) == (300_000_000, 1_000_000_000)
    assert MoveCosts(np.full(3, np.inf), np.zeros(3)).best() is None


def test_either_operator_of_a_stream_may_join_the_other(chain: Problem) -> None:
    """a -> b -> c on x, y, z: a may go to y, b to x and z, c to y."""
    assert np.argwhere(co_locations(chain, np.array([0, 1, 2]))).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]


@pytest.mark.parametrize("seed", range(6))
def test_moves_that_break_a_rule_are_not_feasible(ruled_problem: RichProblem, seed: int) -> None:
    """Exactly those that the check refuses, whatever kind the constraint is."""
    problem = ruled_problem(seed, 8, 12)
    placement = start(problem)
    costs = MoveEvaluator(problem).single_moves(placement, Deadline.none())
    for i in range(problem.n_ops):
        for u in range(problem.n_nodes):
            moved = placement.copy()
            moved[i] = u
            possible = u != placement[i] and not check(problem, moved)
            assert np.isfinite(costs.objective[i, u]) == possible
