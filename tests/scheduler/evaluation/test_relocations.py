from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.evaluation import relocations
from scheduler.evaluation.evaluate import Rank, check, evaluate
from scheduler.evaluation.moves import MoveEvaluator
from scheduler.evaluation.relocations import BATCH, RelocationEvaluator
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem, RichProblem


def start(problem: Problem) -> IntArray:
    placement = plan(problem, "even").placement
    assert placement is not None
    return placement


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
        patch.setattr(relocations, "BATCH", batch)
        found = RelocationEvaluator(problem, MoveEvaluator(problem)).best(
            placement, np.arange(n_nodes), limit
        )

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
    found = RelocationEvaluator(problem, MoveEvaluator(problem)).best(placement, np.arange(100), limit)
    candidates = [
        np.where(placement == u, v, placement) for u in np.unique(placement) for v in range(100) if u != v
    ]
    feasible = [moved for moved in candidates if not check(problem, moved)]
    best = min(evaluate(problem, moved).rank for moved in feasible)

    assert len(feasible) > BATCH
    assert found is not None
    assert evaluate(problem, np.where(placement == found[0], found[1], placement)).rank == best


@pytest.mark.parametrize("looks", range(8))
def test_a_deadline_while_bounds_are_computed_chooses_nothing_worse(
    hundred_nodes: Problem, looks: int
) -> None:
    """Whichever look at the deadline is the last one in time."""
    placement = start(hundred_nodes)
    limit = evaluate(hundred_nodes, placement).rank
    ticks = itertools.count()
    deadline = Deadline(lambda: float(next(ticks)), at=looks)
    evaluator = RelocationEvaluator(hundred_nodes, MoveEvaluator(hundred_nodes))
    found = evaluator.best(placement, np.arange(100), limit, deadline=deadline)

    if found is not None:
        assert evaluate(hundred_nodes, np.where(placement == found[0], found[1], placement)).rank < limit


def test_no_path_is_looked_at_after_the_deadline(
    hundred_nodes: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are what takes longest."""
    expired = Deadline(lambda: 1.0, at=0.0)
    monkeypatch.setattr(relocations, "potentials_without", lambda *_: pytest.fail("paths were looked at"))
    placement = start(hundred_nodes)
    limit = evaluate(hundred_nodes, placement).rank
    evaluator = RelocationEvaluator(hundred_nodes, MoveEvaluator(hundred_nodes))

    assert evaluator.best(placement, np.arange(100), limit, deadline=expired) is None


@pytest.mark.parametrize("seed", range(6))
def test_relocations_keep_rules(ruled_problem: RichProblem, seed: int) -> None:
    """The best one that the check accepts is found, or none if there is none."""
    problem = ruled_problem(seed, 8, 12)
    placement = start(problem)
    limit = (2**62, 0)
    ways = [
        np.where(placement == origin, destination, placement)
        for origin, destination in itertools.product(np.unique(placement), range(problem.n_nodes))
        if origin != destination
    ]
    ranks = [evaluate(problem, each).rank for each in ways if not check(problem, each)]
    found = RelocationEvaluator(problem, MoveEvaluator(problem)).best(placement, np.arange(12), limit)

    if found is None:
        assert not ranks
        return
    best = np.where(placement == found[0], found[1], placement)
    assert check(problem, best) == ()
    assert evaluate(problem, best).rank == min(ranks)
