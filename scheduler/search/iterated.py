"""Iterated local search by a population of placements; our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import Iterations
from scheduler.construct.greedy_placement import greedy_placement
from scheduler.construct.near_nodes import candidate_lists
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Progress, Suggestion
from scheduler.evaluation.batch import BatchConstraints
from scheduler.evaluation.evaluate import evaluate
from scheduler.search.descent import Descent, descend
from scheduler.search.level_descent import descend as sweep
from scheduler.search.proposals import Proposals
from scheduler.search.rebuild import Rebuild
from scheduler.search.replanting import Replanting, by_beam, replants
from scheduler.search.tempering import Tempering

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from scheduler.search.replanting import Anew

SOURCE = "ils"
WALKABLE = 3000
"""Operators and streams up to which walkers are faster than kicks and descents."""
PATIENCE = 24
"""Default limit of the iterations without a better placement."""
WALKERS = 24
"""Default number of the placements that walk side by side."""
MOVES_PER_STEP = 40
"""Single moves of the problem (operators x nodes) for which an iteration takes one step."""
FEWEST_STEPS, MOST_STEPS = 5, 50
"""Bounds of the steps in an iteration."""
MOVES_PER_REPLANTING, MOST_REPLANTINGS = 8, 80
"""The same for steps that place many operators anew, and how many these are at most."""
REFINING_SHARE = 0.25
"""Share of the time left that steepest descent may take."""
KICK_SHARE = 0.02
"""Random changes of a kick per operator."""
FEWEST_CHANGES = 3
"""Random changes of a kick at least."""
TRIES_PER_CHANGE = 10
"""Random changes drawn for one that is feasible, at most."""


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
    *,
    anew: Anew = by_beam,
) -> Suggestion:
    """Return a feasible placement of a rank no higher than that of the given feasible one.

    Descents come first, then iterations. In a small problem an iteration is a number of steps of `Tempering`,
    and steepest descent refines what they have found as soon as they find nothing better. Where nodes are
    paid once, or graphs share them, it is a number of steps of `Replanting`. In a large one,
    where a step would take long, it is a kick, some random changes of the best placement, and a descent that
    moves many operators at once (`scheduler.search.level_descent`).

    Args:
        problem: The problem.
        placement: (n_ops,) the feasible start.
        context: Seeded generator, deadline and report, which receives every improvement; children are not
            used.
        patience: Iterations without a better placement after which to stop (>= 1); None: only the deadline
            ends the search, and without one a single iteration is made.
        walkers: Placements that walk side by side (>= 2).
        anew: As of `Replanting`.
    """
    best = Incumbent(problem, context.report)
    best.begin(placement)
    iteration: _Walks | _Replants | _Kicks
    if replants(problem):
        iteration = _Replants(problem, placement, context, anew)
    elif problem.n_ops + len(problem.application.streams) <= WALKABLE:
        iteration = _Walks(problem, placement, walkers, context)
    else:
        iteration = _Kicks(problem, placement, context)
    placement = iteration.start if best.offer(iteration.start, SOURCE) else placement
    if not problem.movable.any():
        return Suggestion(placement, "no operator can move")
    stop = Iterations(context.deadline, patience)
    while (why := stop.reason()) is None:
        found = iteration.next(placement)
        improved = best.offer(found, SOURCE)
        placement = found if improved else placement
        stop.note(improved=improved)
    return Suggestion(placement, why)


class _Walks:
    """Iterations for problems in which many placements are evaluated in a millisecond."""

    def __init__(self, problem: Problem, placement: IntArray, walkers: int, context: Context) -> None:
        self._problem, self._deadline = problem, context.deadline
        self._descent = Descent(problem, placement, np.arange(problem.n_nodes))
        # neither descent is the better start on all kinds of problems
        starts = [self._refined(placement), self._refined(sweep(problem, placement, self._deadline))]
        start = min(starts, key=lambda each: evaluate(problem, each).rank)
        self._walkers = Tempering(problem, start, walkers, context.random)
        self._steps = min(max(problem.n_ops * problem.n_nodes // MOVES_PER_STEP, FEWEST_STEPS), MOST_STEPS)
        self._is_refined = True
        self._rebuild = Rebuild(problem, candidate_lists(problem), context.random)
        self._was_rebuilt = False

    @property
    def start(self) -> IntArray:
        """What descents alone have reached, (n_ops,)."""
        return self._walkers.best

    def next(self, _best: IntArray) -> IntArray:
        """Return the best placement after one more iteration; it may be the same."""
        if self._walkers.walk(self._steps, self._deadline):
            self._is_refined = self._was_rebuilt = False
        elif not self._is_refined:
            self._adopt(self._refined(self._walkers.best))
            self._is_refined = True
        if self._rebuild.runs:
            best = self._walkers.best
            rebuilt = self._rebuild.rebuilt(best, self._deadline, narrowed=self._was_rebuilt)
            self._was_rebuilt = not self._adopt(rebuilt)
        return self._walkers.best

    def _adopt(self, placement: IntArray) -> bool:
        """Let the walkers go on from a placement if it ranks below their best; return whether it does."""
        rank = evaluate(self._problem, placement).rank
        if rank >= self._walkers.rank:
            return False
        self._walkers.adopt(placement, rank)
        return True

    def _refined(self, placement: IntArray) -> IntArray:
        """Return the placement after steepest descent."""
        time = self._deadline.share(REFINING_SHARE)
        self._descent.restart(placement)
        self._descent.run(time)
        return self._descent.placement


class _Replants:
    """Iterations for problems in which the nodes in use decide most.

    Attributes:
        start: (n_ops,) what a descent alone has reached.
    """

    def __init__(self, problem: Problem, placement: IntArray, context: Context, anew: Anew) -> None:
        self._problem, self._deadline = problem, context.deadline
        self.start = descend(problem, placement, context.deadline.share(REFINING_SHARE)).placement
        self._replanting = Replanting(problem, self.start, context.random, anew)
        moves = problem.n_ops * problem.n_nodes
        self._steps = min(max(moves // MOVES_PER_REPLANTING, FEWEST_STEPS), MOST_REPLANTINGS)

    def next(self, best: IntArray) -> IntArray:
        """Return the best placement after some steps more; it may be the same."""
        self._replanting.walk(self._steps, self._deadline)
        found = self._replanting.best
        if found is not best and not self._deadline.expired():
            found = descend(self._problem, found, self._deadline.share(REFINING_SHARE)).placement
            self._replanting.adopt(found)
        return self._replanting.best


class _Kicks:
    """Iterations for large problems.

    Attributes:
        start: (n_ops,) what a descent alone has reached.
    """

    def __init__(self, problem: Problem, placement: IntArray, context: Context) -> None:
        self._problem, self._deadline, self._random = problem, context.deadline, context.random
        self._proposals = Proposals(problem, BatchConstraints(problem), context.random)
        self.start = sweep(problem, placement, self._deadline)

    def next(self, best: IntArray) -> IntArray:
        """Return a placement that a descent reaches from some random changes of the best one."""
        changes = max(FEWEST_CHANGES, int(self._problem.n_ops * KICK_SHARE))
        placement = best[:, None]
        for _ in range(TRIES_PER_CHANGE * changes):
            changed, valid = self._proposals.draw(placement)
            if valid[0]:
                placement = changed
                changes -= 1
            if not changes:
                break
        return sweep(self._problem, placement[:, 0], self._deadline)
