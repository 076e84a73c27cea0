"""What it costs to go from one placement to another.

Moves are priced at the node that loads: so no detour is cheaper than the direct way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.current import GONE, UNPLACED
from scheduler.model.metrics.migration import MIGRATION, pull_seconds
from scheduler.model.use import nodes_in_use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class MovePrices:
    """Prices of moves in one unit.

    Attributes:
        of_move: (n_ops, n_nodes) of an operator that comes to a node.
        of_node: (n_nodes,) of a node that comes into use: it loads what all operators share.
        of_change: Of moving anything at all.
    """

    of_move: FloatArray
    of_node: FloatArray
    of_change: float = 0.0

    @staticmethod
    def of(problem: Problem) -> MovePrices:
        """Return the prices of a problem, in cost units."""
        network = problem.network
        return MovePrices(
            np.asarray(pull_seconds(problem) * network.cost[None, :]), network.shared_pull_s * network.cost
        )

    def scaled(self, factor: float, of_move: float, of_change: float) -> MovePrices:
        """Return the prices times a factor, and what each move and each change costs besides."""
        return MovePrices(
            factor * self.of_move + of_move, factor * self.of_node, factor * self.of_change + of_change
        )

    def from_one(self, start: IntArray, placements: IntArray) -> FloatArray:
        """Return (k,) the price of going from one placement to others.

        Args:
            start: (n_ops,) where operators are; what is unplaced, or was on a node that is gone, is free, and
                with it what all share.
            placements: (n_ops, k).
        """
        pays = (start != UNPLACED) & (start != GONE)
        moved = pays[:, None] & (placements != start[:, None])
        total = np.where(moved, np.take_along_axis(self.of_move, placements, axis=1), 0.0).sum(axis=0)
        total += self.of_change * moved.any(axis=0)
        if pays.all() and self.of_node.any():
            fresh = np.where(nodes_in_use(start, len(self.of_node)), 0.0, self.of_node)
            total += fresh @ nodes_in_use(placements, len(self.of_node))
        return np.asarray(total)

    def to_one(self, placements: IntArray, end: IntArray) -> FloatArray:
        """Return (k,) the price of going from each of some placements, (n_ops, k), to one, (n_ops,)."""
        moved = placements != end[:, None]
        total = self.of_move[np.arange(len(end)), end] @ moved + self.of_change * moved.any(axis=0)
        if self.of_node.any():
            wanted = self.of_node * nodes_in_use(end, len(self.of_node))
            total += wanted @ ~nodes_in_use(placements, len(self.of_node))
        return np.asarray(total)

    def between(self, placements: IntArray) -> FloatArray:
        """Return (k, k) the price of going from each placement (n_ops, k) to each other one."""
        count = placements.shape[1]
        return np.array([self.from_one(each, placements) for each in placements.T]).reshape(count, count)


def spread_price(weights: Mapping[str, float], part: float) -> dict[str, float]:
    """Return weights of sum 1 in which moves weigh only this part of what they weighed beside the others."""
    changed = {name: weight * (part if name == MIGRATION.name else 1.0) for name, weight in weights.items()}
    total = math.fsum(changed.values())
    return {name: weight / total for name, weight in changed.items()}
