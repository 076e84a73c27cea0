"""From greedy, or from where operators run, down to a local optimum (paper 000, section 6.2, Algorithm 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.construct.first_fit import breadth_first_operators
from scheduler.construct.greedy_placement import greedy_placement, pinned_nodes
from scheduler.construct.penalty import LinkPenalty
from scheduler.contract.strategy import Context, Suggestion
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.search.descent import Descent

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

OVER = "the deadline ended the search"
MOST_ITERATIONS = 10_000
"""Default limit of the iterations; a local optimum comes long before."""


def local_optimum(
    problem: Problem,
    context: Context,
    *,
    from_current: bool = False,
    most_iterations: int = MOST_ITERATIONS,
) -> Suggestion:
    """Improve the start by co-locating, swapping resources and moving single operators until none helps.

    Each step takes the best neighbour, by F and then by mean delay of the streams; only improvements are
    taken, so the result is never worse than the greedy placement at any moment.

    Complexity of an iteration: see `MoveEvaluator.single_moves` and `RelocationEvaluator.best`.

    Args:
        problem: The problem.
        context: Deadline, and who hears of progress.
        from_current: Whether to begin with `Problem.current` if it is complete, feasible and no worse than
            greedy; otherwise greedy is the start.
        most_iterations: Iterations over the three neighbourhoods after which to stop (>= 0).
    """
    first = greedy_placement(problem, context)
    start = _start(problem, first, from_current=from_current)
    if start is None:
        return first
    if context.deadline.expired():
        return Suggestion(start, OVER)
    reference = first.placement if first.placement is not None else start
    descent = Descent(problem, start, node_list(problem, reference))
    for _ in range(most_iterations):
        before = descent.rank
        if not descent.iterate(context.deadline):
            return Suggestion(descent.placement, OVER)
        if descent.rank == before:
            return Suggestion(descent.placement, "local optimum: no neighbour is better")
    return Suggestion(descent.placement, f"{most_iterations} iterations ended the search")


def _start(problem: Problem, first: Suggestion, *, from_current: bool) -> IntArray | None:
    current = problem.current
    if not from_current or current is None or check(problem, current):
        return first.placement
    if first.placement is None or evaluate(problem, current).rank <= evaluate(problem, first.placement).rank:
        return current
    return first.placement


def node_list(problem: Problem, placement: IntArray) -> IntArray:
    """Return the list L; without pins the first source counts as pinned where it was placed."""
    pinned = pinned_nodes(problem)
    references = pinned if pinned.size else placement[breadth_first_operators(problem)[:1]]
    return LinkPenalty.of(problem).order(references)
