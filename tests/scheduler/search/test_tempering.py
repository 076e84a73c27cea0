from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.plan import plan
from scheduler.search.tempering import Tempering

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem

NEVER = Deadline.none()


def greedy(problem: Problem) -> IntArray:
    placement = plan(problem, "greedy").placement
    assert placement is not None
    return placement


def test_the_best_is_feasible_and_only_gets_better(make_problem: MakeProblem) -> None:
    """Its rank is what a full evaluation says, and improvements are reported."""
    for seed in range(4):
        problem = make_problem(seed, 12, 20)
        walkers = Tempering(problem, greedy(problem), 6, np.random.default_rng(seed))
        for _ in range(10):
            before = walkers.rank
            improved = walkers.walk(5, NEVER)
            worth = evaluate(problem, walkers.best)
            assert check(problem, walkers.best) == ()
            assert abs(worth.rank[0] - walkers.rank[0]) <= 1
            assert improved == (walkers.rank < before)
            assert walkers.rank <= before


def test_a_walk_ends_with_the_time(hundred_nodes: Problem) -> None:
    """Steps stop as soon as the deadline has come."""
    walkers = Tempering(hundred_nodes, greedy(hundred_nodes), 4, np.random.default_rng(0))
    clock = count()
    walkers.walk(1000, Deadline(clock.__next__, at=5))

    assert next(clock) == 7 - 1


def test_an_adopted_placement_is_the_best_from_then_on(hundred_nodes: Problem) -> None:
    """What was found elsewhere is walked on from."""
    better = plan(hundred_nodes, "local-search").placement
    assert better is not None
    walkers = Tempering(hundred_nodes, greedy(hundred_nodes), 4, np.random.default_rng(0))
    rank = evaluate(hundred_nodes, better).rank
    walkers.adopt(better, rank)
    walkers.walk(3, NEVER)

    assert walkers.rank <= rank
