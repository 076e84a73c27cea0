"""Moves of operators that can only move together: the worth of all such moves of a placement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.moves import MoveCosts

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.evaluation.evaluate import Rank
    from scheduler.model.problem import Problem


class BlockMoves:
    """Finds the best move of a block: a set of operators that a rule keeps on one node."""

    def __init__(self, problem: Problem) -> None:
        self._blocks = problem.rules.together
        self._evaluate = BatchEvaluator(problem)
        self._constraints = BatchConstraints(problem)

    def best(self, placement: IntArray, nodes: IntArray, limit: Rank, deadline: Deadline) -> IntArray | None:
        """Return the best placement that the move of one block leads to, if it ranks below `limit`.

        Complexity: O((n_ops + n_streams) x n_nodes) per block.

        Args:
            placement: (n_ops,) before.
            nodes: (n_nodes,) the order of destinations; it decides between equals.
            limit: Only lower ranks count.
            deadline: When to stop with the best found so far.
        """
        best = None
        for members in self._blocks:
            if deadline.expired():
                break
            moved = np.repeat(placement[:, None], len(nodes), axis=1)
            moved[members] = nodes
            costs = MoveCosts(*self._evaluate(moved))
            costs.objective[~self._constraints.met(moved)] = np.inf
            found = costs.best()
            if found is not None and costs.rank(found) < limit:
                limit, best = costs.rank(found), moved[:, found].copy()
        return best
