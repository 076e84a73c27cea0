"""`ils`: iterated local search by a population of walkers; our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.evaluation import OBJECTIVE_STEP, evaluate
from scheduler.search.descent import descend
from scheduler.search.walkers import Walkers
from scheduler.strategies.greedy import greedy
from scheduler.strategy import Context, NoParameters, Progress, Suggestion

if TYPE_CHECKING:
    from scheduler.arrays import IntArray
    from scheduler.problem import Problem

MOVES_PER_STEP = 40
"""Single moves of the problem (operators x nodes) for which a round takes one step."""
FEWEST_STEPS, MOST_STEPS = 5, 50
"""Bounds of the steps in a round."""


@dataclass(frozen=True)
class IlsParameters:
    """Settings of `ils`.

    Attributes:
        patience: Rounds without a better placement after which to stop (>= 1); None: only the deadline ends
            the search, and without one a single round is made.
        walkers: Placements that walk side by side (>= 2).
    """

    patience: int | None = 16
    walkers: int = 24

    def __post_init__(self) -> None:
        if self.patience is not None:
            _whole("patience", self.patience, 1)
        _whole("walkers", self.walkers, 2)


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name}: expected a whole number >= {least}, got {value!r}")


def tireless(parameters: IlsParameters) -> IlsParameters:
    """Return the parameters with which the search uses all the time that it is given."""
    return IlsParameters(None, parameters.walkers)


def ils(problem: Problem, parameters: IlsParameters, context: Context, /) -> Suggestion:
    """Start from greedy and improve by walking, descending and kicking until nothing better is found.

    The result is never worse than the greedy placement at any moment.
    """
    first = greedy(problem, NoParameters(), context)
    if first.placement is None:
        return first
    start = evaluate(problem, first.placement)
    context.report(Progress(start.objective, None, "greedy", first.placement))
    return improve(problem, first.placement, parameters, context)


def improve(problem: Problem, placement: IntArray, parameters: IlsParameters, context: Context) -> Suggestion:
    """Return a feasible placement of a rank no higher than that of the given feasible one.

    Rounds of steps of a population of walkers (`Walkers`), which starts from the placement; whenever they
    have found a better one, steepest descent refines it. Reports every improvement.

    Args:
        problem: The problem.
        placement: (n_ops,) the feasible start.
        parameters: When to stop.
        context: Seeded generator, deadline and report; children are not used.
    """
    best, rank = placement, evaluate(problem, placement).rank
    walkers = Walkers(problem, placement, parameters.walkers, context.random)
    if not walkers.can_walk:
        return Suggestion(placement, "no operator can move")
    steps = min(max(problem.n_ops * problem.n_nodes // MOVES_PER_STEP, FEWEST_STEPS), MOST_STEPS)
    patience = parameters.patience
    idle = 0
    while not context.deadline.expired():
        idle += 1
        if walkers.walk(steps, context.deadline):
            descent = descend(problem, walkers.best, context.deadline)
            if descent.rank < walkers.rank:
                walkers.adopt(descent.placement, descent.rank)
            if descent.rank < rank:
                best, rank, idle = descent.placement, descent.rank, 0
                context.report(Progress(rank[0] * OBJECTIVE_STEP, None, "ils", best))
        if idle >= patience if patience is not None else context.deadline.unlimited:
            return Suggestion(best, f"{idle} rounds without a better placement ended the search")
    return Suggestion(best, "the deadline ended the search")
