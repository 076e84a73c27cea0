from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import moves
from scheduler.evaluation import Rank, check, evaluate
from scheduler.moves import BATCH, MoveCosts, MoveEvaluator, co_locations
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.problem import Problem
    from tests.scheduler.conftest import MakeProblem


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
    costs = MoveEvaluator(problem).single_moves(placement)
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


@pytest.mark.parametrize("batch", [1, BATCH])
@given(seed=st.integers(0, 500), n_ops=st.integers(1, 10), n_nodes=st.integers(5, 8))
def test_the_best_relocation_is_the_best_of_all(
    make_problem: MakeProblem, batch: int, seed: int, n_ops: int, n_nodes: int
) -> None:
    """Pruning by bounds never loses the best way to move a node's operators together."""
    problem = make_problem(seed, n_ops, n_nodes)
    # crowded nodes, so that most relocations move several operators together
    placement = plan(problem, "greedy-no-penalty").placement
    assert placement is not None
    limit = evaluate(problem, placement).rank
    ranks: list[Rank] = []
    for u in np.unique(placement):
        for v in range(n_nodes):
            moved = np.where(placement == u, v, placement)
            if u != v and not check(problem, moved):
                ranks.append(evaluate(problem, moved).rank)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves, "BATCH", batch)
        found = MoveEvaluator(problem).best_relocation(placement, np.arange(n_nodes), limit)

    better = [rank for rank in ranks if rank < limit]
    assert (found is None) == (not better)
    if found is not None:
        moved = np.where(placement == found[0], found[1], placement)
        assert evaluate(problem, moved).objective == pytest.approx(min(better)[0] * 1e-9, abs=3e-9)


def test_more_relocations_than_one_batch_are_searched(hundred_nodes: Problem) -> None:
    """The best of thousands of candidates is found although they are evaluated batch by batch."""
    problem = hundred_nodes
    placement = start(problem)
    limit = evaluate(problem, placement).rank
    found = MoveEvaluator(problem).best_relocation(placement, np.arange(100), limit)
    candidates = [
        np.where(placement == u, v, placement) for u in np.unique(placement) for v in range(100) if u != v
    ]
    feasible = [moved for moved in candidates if not check(problem, moved)]
    best = min(evaluate(problem, moved).rank for moved in feasible)

    assert len(feasible) > BATCH
    assert found is not None
    assert evaluate(problem, np.where(placement == found[0], found[1], placement)).rank == best


def test_equal_objectives_are_told_apart_by_mean_delay() -> None:
    """Differences of F below a step do not count, then the lower mean delay wins, then the first."""
    costs = MoveCosts(np.array([0.5, 0.3 + 1e-12, 0.3, 0.3]), np.array([0.0, 2.0, 1.0, 1.0]))

    assert costs.best() == 2
    assert costs.rank(2) == (300_000_000, 1_000_000_000)
    assert MoveCosts(np.full(3, np.inf), np.zeros(3)).best() is None


def test_either_operator_of_a_stream_may_join_the_other(chain: Problem) -> None:
    """a -> b -> c on x, y, z: a may go to y, b to x and z, c to y."""
    assert np.argwhere(co_locations(chain, np.array([0, 1, 2]))).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
