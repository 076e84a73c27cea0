"""Iterated local search by a population of placements; our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.base.stop import Iterations
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Progress, Suggestion
from scheduler.evaluation.evaluate import evaluate
from scheduler.search.iteration import Kicks, Walks

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

SOURCE = "ils"
WALKABLE = 3000
"""Operators and streams up to which walkers are faster than kicks and descents."""
PATIENCE = 24
"""Default limit of the iterations without a better placement."""
WALKERS = 24
"""Default number of the placements that walk side by side."""


def iterated_search(
    problem: Problem, context: Context, patience: int | None = PATIENCE, walkers: int = WALKERS
) -> Suggestion:
    """Start from greedy and improve by walking, descending and kicking until nothing better is found.

    The result is never worse than the greedy placement at any moment. Arguments are those of `improve`.
    """
    first = greedy_placement(problem, context)
    if first.placement is None:
        return first
    start = evaluate(problem, first.placement)
    context.report(Progress(start.objective, None, "greedy", first.placement))
    return improve(problem, first.placement, context, patience, walkers)


def improve(
    problem: Problem,
    placement: IntArray,
    context: Context,
    patience: int | None = PATIENCE,
    walkers: int = WALKERS,
) -> Suggestion:
    """Return a feasible placement of a rank no higher than that of the given feasible one.

    Descents come first, then iterations. In a small problem an iteration is a number of steps of `Tempering`,
    and steepest descent refines what they have found as soon as they find nothing better. In a large one,
    where a step would take long, it is a kick, some random changes of the best placement, and a descent that
    moves many operators at once (`scheduler.search.level_descent`).

    Args:
        problem: The problem.
        placement: (n_ops,) the feasible start.
        context: Seeded generator, deadline and report, which hears of every improvement; children are not
            used.
        patience: Iterations without a better placement after which to stop (>= 1); None: only the deadline
            ends the search, and without one a single iteration is made.
        walkers: Placements that walk side by side (>= 2).
    """
    best = Incumbent(problem, context.report)
    best.begin(placement)
    iteration: Walks | Kicks
    if problem.n_ops + len(problem.application.streams) <= WALKABLE:
        iteration = Walks(problem, placement, walkers, context)
    else:
        iteration = Kicks(problem, placement, context)
    placement = iteration.start if best.offer(iteration.start, SOURCE) else placement
    if not iteration.can_move:
        return Suggestion(placement, "no operator can move")
    stop = Iterations(context.deadline, patience)
    while (why := stop.reason()) is None:
        found = iteration.next(placement)
        improved = best.offer(found, SOURCE)
        placement = found if improved else placement
        stop.note(improved=improved)
    return Suggestion(placement, why)
