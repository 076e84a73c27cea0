"""`odr`: the optimal re-placement, with its proof (paper 001)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from scheduler.base.checks import positive_number, whole_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.exact.enumeration import best_of_all, n_placements
from scheduler.exact.solve import solve_exact
from scheduler.exact.solver.guided import guided_search
from scheduler.search.replanting import replants
from scheduler.search.searched_start import searched_start
from scheduler.search.staying import fewest_moves

if TYPE_CHECKING:
    from scheduler.model.problem import Problem

PATIENCE = 12
"""Iterations of the longer search without a better placement after which both children cut: the later they
do, the longer the proof takes, and it finds what little the search has missed."""


@dataclass(frozen=True)
class OdrParameters:
    """Settings of `odr`.

    Attributes:
        enumerate_up_to: Placements up to which all are looked at (>= 0).
        work_limit: As of `odp`.
    """

    enumerate_up_to: int = 1 << 18
    work_limit: float | None = 2e6

    def __post_init__(self) -> None:
        whole_number("enumerate_up_to", self.enumerate_up_to, 0)
        if self.work_limit is not None:
            positive_number("work_limit", self.work_limit, expected="a number > 0 or None")


def odr(problem: Problem, parameters: OdrParameters, context: Context, /) -> Suggestion:
    """Return an optimal placement that moves as few operators as any other of its worth.

    Of larger problems, whose placements cannot all be looked at, the one returned is at the foot of a descent
    that takes moves back as long as F stays as it is.
    """
    if n_placements(problem) <= parameters.enumerate_up_to:
        best = _of_all(problem, context)
        if best is not None:
            return best
    limit = math.inf if parameters.work_limit is None else parameters.work_limit
    first, longer = searched_start(problem, context)
    start = first.placement
    if start is not None and replants(problem):
        longer = partial(guided_search, problem, start, patience=PATIENCE)
    found = solve_exact(problem, first, context, longer=longer, work_limit=limit)
    if found.placement is None:
        return found
    return replace(found, placement=fewest_moves(problem, found.placement, context.deadline))


def _of_all(problem: Problem, context: Context) -> Suggestion | None:
    """Return the best of all placements with its proof, None if the deadline comes first."""
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    placement, all_of_them = best_of_all(problem, context.deadline)
    if not all_of_them:
        return None
    if placement is None:
        return Suggestion(None, "no placement meets all constraints", proved=True)
    bound = evaluate(problem, placement).objective
    return Suggestion(placement, "the best of all placements", bound, proved=True)


ENTRY = StrategyEntry(
    name="odr",
    solve=odr,
    parameters=OdrParameters,
    summary="the optimal re-placement with its proof: of equals the one that moves least",
    exact=True,
    anytime=True,
    never_worse_than_greedy=True,
    limits=("work_limit",),
    ends_with_proof=True,
)
