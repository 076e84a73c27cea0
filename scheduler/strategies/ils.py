"""`ils`: iterated local search by a population of walkers; our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.contract.strategy import Context, NoParameters, Progress, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.search.rounds import Kicks, Walks
from scheduler.strategies.greedy import greedy

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

WALKABLE = 3000
"""Operators and streams up to which walkers are faster than kicks and descents."""


@dataclass(frozen=True)
class IlsParameters:
    """Settings of `ils`.

    Attributes:
        patience: Rounds without a better placement after which to stop (>= 1); None: only the deadline ends
            the search, and without one a single round is made.
        walkers: Placements that walk side by side (>= 2).
    """

    patience: int | None = 24
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

    Descents come first, then rounds. In a small problem a round is a number of steps of `Walkers`, and
    steepest descent refines what they have found as soon as they find nothing better. In a large one, where a
    step would take long, a round is a kick, some random changes of the best placement, and a descent that
    moves many operators at once (`scheduler.search.level_descent`).

    Args:
        problem: The problem.
        placement: (n_ops,) the feasible start.
        parameters: When to stop.
        context: Seeded generator, deadline and report, which hears of every improvement; children are not
            used.
    """
    best = _Best(problem, placement, context)
    rounds: Walks | Kicks
    if problem.n_ops + len(problem.application.streams) <= WALKABLE:
        rounds = Walks(problem, placement, parameters.walkers, context)
    else:
        rounds = Kicks(problem, placement, context)
    best.offer(rounds.start)
    if not rounds.can_move:
        return Suggestion(best.placement, "no operator can move")
    idle = 0
    while not context.deadline.expired():
        idle = 0 if best.offer(rounds.next(best.placement)) else idle + 1
        patience = parameters.patience
        if idle >= patience if patience is not None else context.deadline.unlimited:
            return Suggestion(best.placement, f"{idle} rounds without a better placement ended the search")
    return Suggestion(best.placement, "the deadline ended the search")


class _Best:
    """The best placement so far."""

    def __init__(self, problem: Problem, placement: IntArray, context: Context) -> None:
        self.placement = placement
        self._rank = evaluate(problem, placement).rank
        self._problem, self._report = problem, context.report

    def offer(self, placement: IntArray) -> bool:
        """Keep a placement and report it if it ranks lower; return whether it does."""
        worth = evaluate(self._problem, placement)
        if worth.rank >= self._rank:
            return False
        self.placement, self._rank = placement, worth.rank
        self._report(Progress(worth.objective, None, "ils", placement))
        return True
