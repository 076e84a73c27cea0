"""`odr-search`: re-placement by search, from the current placement (the open point of paper 001)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.children import INLINE
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate
from scheduler.exact.enumeration import best_within_moves, n_within_moves
from scheduler.exact.solver.guided import GUIDING_SHARE, Guide, guided_search
from scheduler.model.constraints.move_limit import MoveLimit
from scheduler.search.descent import descend
from scheduler.search.iterated import WALKERS, improve
from scheduler.search.replanting import replants
from scheduler.search.staying import fewest_moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.children import Job
    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem

_PATIENCE = 16
_ENUMERABLE = 1 << 18


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
    if replants(problem):
        # a search that places everything anew now and then needs no other start
        best, reason = _in_large_steps(problem, starts[0], parameters, context)
    else:
        best, reason = starts[0], ""
        for k, start in enumerate(starts):
            part = replace(context, deadline=context.deadline.share(1.0 / (len(starts) - k)))
            found = improve(problem, start, part, parameters.patience, parameters.walkers)
            best, reason = _better(problem, found.placement, best), found.reason
    return Suggestion(fewest_moves(problem, best, context.deadline), reason)


@dataclass(frozen=True, eq=False)
class _Order:
    """What a child searches.

    Attributes:
        problem: The problem.
        start: (n_ops,) where to begin.
        parameters: Settings of the search.
        seed: Of its random numbers.
    """

    problem: Problem
    start: IntArray
    parameters: OdrSearchParameters
    seed: int


class _Beside:
    """A child that finds prices to be guided by, and then searches with other random numbers.

    Attributes:
        found: (n_ops,) the placements that it has found.
    """

    def __init__(self, job: Job[IntArray | Guide]) -> None:
        self._job = job
        self._guide: Guide | None = None
        self.found: list[IntArray] = []

    def anew(self, random: np.random.Generator) -> IntArray | None:
        """Place everything anew, once there are prices."""
        if self._guide is None:
            self._read()
        return None if self._guide is None else self._guide(random)

    def stop(self) -> None:
        """End it."""
        self._job.stop()
        self._read()

    def _read(self) -> None:
        for each in self._job.messages():
            if isinstance(each, Guide):
                self._guide = each
            else:
                self.found.append(each)


def _in_large_steps(
    problem: Problem, start: IntArray, parameters: OdrSearchParameters, context: Context
) -> tuple[IntArray, str]:
    """Search here and, for as long as the deadline permits, in a child with other random numbers."""
    start = descend(problem, start, context.deadline.share(GUIDING_SHARE)).placement
    # without a deadline an answer is the same everywhere, and inside this process both would take turns
    if context.children is INLINE or context.deadline.unlimited:
        found = guided_search(problem, start, context, parameters.patience, parameters.walkers)
        return _better(problem, found.placement, start), found.reason
    order = _Order(problem, start, parameters, int(context.random.integers(1 << 62)))
    beside = _Beside(context.children.start(_search_beside, order, context.deadline))
    found = improve(problem, start, context, parameters.patience, parameters.walkers, anew=beside.anew)
    beside.stop()
    best = _better(problem, found.placement, start)
    for each in beside.found:
        best = _better(problem, each, best)
    return best, found.reason


def _search_beside(order: _Order, deadline: Deadline, say: Callable[[IntArray | Guide], None]) -> None:
    """Send the prices, and every placement that is better than those before."""

    def improved(progress: Progress) -> None:
        if progress.placement is not None:
            say(progress.placement)

    context = Context(np.random.default_rng(order.seed), deadline, report=improved)
    settings = order.parameters
    guided_search(order.problem, order.start, context, settings.patience, settings.walkers, say=say)


def _better(problem: Problem, placement: IntArray | None, best: IntArray) -> IntArray:
    """Return a placement if it is known and gains on the best one, else that."""
    return placement if placement is not None and _gains(problem, placement, best) else best


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
