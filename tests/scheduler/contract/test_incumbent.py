"""The best placement so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.contract.incumbent import WORST, Incumbent
from scheduler.contract.strategy import Progress
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem


def known(make_problem: MakeProblem) -> tuple[Problem, Incumbent, list[Progress]]:
    problem = make_problem(3, 6, 5)
    reported: list[Progress] = []
    return problem, Incumbent(problem, reported.append), reported


def test_only_better_and_feasible_placements_are_taken_and_reported(make_problem: MakeProblem) -> None:
    """Each with its worth as the core computes it, whatever was said of it."""
    problem, incumbent, reported = known(make_problem)
    crowded = np.zeros(problem.n_ops, dtype=np.int64)
    placement = plan(problem, "ils").placement
    assert placement is not None
    assert check(problem, crowded)
    assert incumbent.rank == WORST

    assert not incumbent.offer(crowded, "liar")
    incumbent.take(Progress(-9.0, None, "search", placement))
    assert not incumbent.offer(placement, "again")
    assert reported == [Progress(evaluate(problem, placement).objective, None, "search")]


def test_a_start_is_not_reported(make_problem: MakeProblem) -> None:
    """Who begins with it knows it."""
    problem, incumbent, reported = known(make_problem)
    placement = plan(problem).placement
    assert placement is not None
    incumbent.begin(placement)

    assert not incumbent.offer(placement, "same")
    assert reported == []
    assert incumbent.placement is placement


def test_a_bound_only_rises_less_what_rounding_may_hide(make_problem: MakeProblem) -> None:
    """And is never said to be above the placement's own F."""
    problem, incumbent, reported = known(make_problem)
    incumbent.rounding = 0.25
    assert incumbent.known_bound is None
    incumbent.raise_bound(-1.0, "solver")
    incumbent.take(Progress(0.0, -1.0, "solver"))
    assert [each.bound for each in reported] == [-1.25]
    incumbent.raise_bound(100.0, "solver")
    placement = plan(problem).placement
    assert placement is not None
    incumbent.offer(placement, "search")
    assert incumbent.known_bound == evaluate(problem, placement).objective
