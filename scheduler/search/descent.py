"""Steepest descent over the three neighbourhoods of paper 000 (section 6.2), and over moves of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.moves import MoveCosts, MoveEvaluator, co_locations
from scheduler.evaluation.relocations import RelocationEvaluator

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem


class Descent:
    """A placement that only ever improves.

    Attributes:
        placement: (n_ops,) node of each operator.
        rank: Its rank.
    """

    def __init__(self, problem: Problem, placement: IntArray, nodes: IntArray) -> None:
        """Start from a feasible placement; `nodes` is the list L, which decides between equals."""
        self._problem = problem
        self.restart(placement)
        self._nodes = nodes
        self._moves = MoveEvaluator(problem)
        self._relocations = RelocationEvaluator(problem, self._moves)
        self._blocks = problem.rules.together
        if self._blocks:
            self._evaluate, self._constraints = BatchEvaluator(problem), BatchConstraints(problem)

    def restart(self, placement: IntArray) -> None:
        """Go on from another feasible placement; what does not depend on it is kept."""
        self.placement = placement
        self.rank = evaluate(self._problem, placement).rank

    def run(self, deadline: Deadline) -> None:
        """Descend until no step is better, or time is up."""
        before = None
        while self.rank != before:
            before = self.rank
            if not self.iterate(deadline):
                break

    def iterate(self, deadline: Deadline) -> bool:
        """Take the best step of each neighbourhood in turn; return whether there was time for all three."""
        for improve in (self.co_locate, self.swap_resources, self.move_single):
            if deadline.expired():
                return False
            improve(deadline)
        self._move_block(deadline)
        return True

    def co_locate(self, deadline: Deadline) -> None:
        """Move one of two communicating operators to the other's node."""
        joins = co_locations(self._problem, self.placement)
        costs = self._moves.single_moves(self.placement, deadline)
        self._take_single(MoveCosts(np.where(joins, costs.objective, np.inf), costs.mean_delay_ms))

    def swap_resources(self, deadline: Deadline) -> None:
        """Replace a node by another one: all its operators move there."""
        found = self._relocations.best(self.placement, self._nodes, self.rank, deadline=deadline)
        if found is not None:
            origin, destination = found
            self._take(np.where(self.placement == origin, destination, self.placement))

    def move_single(self, deadline: Deadline) -> None:
        """Move one operator to any node."""
        self._take_single(self._moves.single_moves(self.placement, deadline))

    def _move_block(self, deadline: Deadline) -> None:
        """Move operators that a rule keeps on one node to another one.

        Complexity: O((n_ops + n_streams) x n_nodes) per block.
        """
        best, limit = None, self.rank
        for members in self._blocks:
            if deadline.expired():
                break
            # the constraints take pinned operators to be where they belong
            nodes = self._nodes[self._problem.allowed[np.ix_(members, self._nodes)].all(axis=0)]
            moved = np.repeat(self.placement[:, None], len(nodes), axis=1)
            moved[members] = nodes
            costs = MoveCosts(*self._evaluate(moved))
            costs.objective[~self._constraints.met(moved)] = np.inf
            found = costs.best()
            if found is not None and costs.rank(found) < limit:
                best, limit = moved[:, found].copy(), costs.rank(found)
        if best is not None:
            self._take(best)

    def _take_single(self, costs: MoveCosts) -> None:
        for candidate, _ in costs.best_first(self.placement, self._nodes):
            self._take(candidate)
            return

    def _take(self, candidate: IntArray) -> None:
        """Accept the candidate if the full evaluation confirms that it is better."""
        rank = evaluate(self._problem, candidate).rank
        if rank < self.rank:
            self.placement, self.rank = candidate, rank


def descend(problem: Problem, placement: IntArray, deadline: Deadline) -> Descent:
    """Return the descent from a placement after it has come to its end, or to that of the time."""
    descent = Descent(problem, placement, np.arange(problem.n_nodes))
    descent.run(deadline)
    return descent
