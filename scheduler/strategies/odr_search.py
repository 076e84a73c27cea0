"""`odr-search`: re-placement by search, from the current placement (the open point of paper 001)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.base.checks import whole_number
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.exact.enumeration import best_within_moves, n_within_moves
from scheduler.exact.solver.guided import guided
from scheduler.model.constraints.move_limit import MoveLimit
from scheduler.search.descent import descend
from scheduler.search.iterated import WALKERS, improve
from scheduler.search.replanting import by_beam, replants
from scheduler.search.staying import fewest_moves

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from scheduler.search.replanting import Anew

_PATIENCE = 16
_ENUMERABLE = 1 << 18
GUIDING_SHARE = 0.4
"""Share of the time that prices which guide the search may take."""


@dataclass(frozen=True)
class OdrSearchParameters:
    """Settings of `odr-search`.

    Attributes:
        most_moves: Operators that may leave their node (>= 0); None is no limit.
        patience: As of `ils`, for each of the two searches.
        walkers: As of `ils`.
    """

    most_moves: int | None = None
    patience: int | None = _PATIENCE
    walkers: int = WALKERS

    def __post_init__(self) -> None:
        if self.most_moves is not None:
            whole_number("most_moves", self.most_moves, 0)
        if self.patience is not None:
            whole_number("patience", self.patience, 1)
        whole_number("walkers", self.walkers, 2)


def odr_search(problem: Problem, parameters: OdrSearchParameters, context: Context, /) -> Suggestion:
    """Search from the current placement, and from the greedy one; take back what gains nothing.

    Prices of moves are a metric, so that every step of a search weighs them. Where few moves are permitted
    all placements within reach are looked at, so that the best of them is found.
    """
    most = parameters.most_moves
    if most is not None:
        problem = replace(problem, constraints=(*problem.constraints, MoveLimit(most)))
        if n_within_moves(problem, most) <= _ENUMERABLE:
            return _within_reach(problem, most, context)
    starts = _starts(problem, context)
    if isinstance(starts, Suggestion):
        return starts
    anew: Anew = by_beam
    if replants(problem):
        # a search that places everything anew now and then needs no other start
        starts = (descend(problem, starts[0], context.deadline.share(GUIDING_SHARE)).placement,)
        worth = evaluate(problem, starts[0]).objective
        anew = guided(problem, worth, context.deadline.share(GUIDING_SHARE)) or by_beam
    best, reason = starts[0], ""
    for k, start in enumerate(starts):
        part = replace(context, deadline=context.deadline.share(1.0 / (len(starts) - k)))
        found = improve(problem, start, part, parameters.patience, parameters.walkers, anew=anew)
        reason = found.reason
        if found.placement is not None and _gains(problem, found.placement, best):
            best = found.placement
    return Suggestion(fewest_moves(problem, best, context.deadline), reason)


def _gains(problem: Problem, placement: IntArray, best: IntArray) -> bool:
    gain = evaluate(problem, best).objective - evaluate(problem, placement).objective
    return gain > OBJECTIVE_STEP


def _starts(problem: Problem, context: Context) -> tuple[IntArray, ...] | Suggestion:
    """Return feasible placements to start from, the better one first, or why there is none."""
    greedy = greedy_placement(problem, context)
    current = problem.current
    starts = [] if current is None or check(problem, current) else [current]
    if greedy.placement is not None:
        starts.append(greedy.placement)
    return tuple(sorted(starts, key=lambda each: evaluate(problem, each).rank)) or greedy


def _within_reach(problem: Problem, most: int, context: Context) -> Suggestion:
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    placement, all_of_them = best_within_moves(problem, most, context.deadline)
    if not all_of_them:
        return Suggestion(placement, "the deadline ended the look at all placements within reach")
    if placement is None:
        return Suggestion(None, f"no placement within {most} moves meets all constraints", proved=True)
    bound = evaluate(problem, placement).objective
    return Suggestion(placement, f"the best of all placements within {most} moves", bound)


ENTRY = StrategyEntry(
    name="odr-search",
    solve=odr_search,
    parameters=OdrSearchParameters,
    summary="re-placement by search from the current placement, at most so many moves",
    anytime=True,
    never_worse_than_greedy=True,
    limits=("patience",),
    starts_at_current=lambda _parameters: True,
)
