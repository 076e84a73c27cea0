"""What it costs to go from one placement to another: a price per operator and node to which it comes.

Moves are priced at the node that loads: so no detour is cheaper than the direct way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.current import GONE, UNPLACED
from scheduler.model.metrics.migration import MIGRATION, pull_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem


def loading_prices(problem: Problem) -> FloatArray:
    """Return (n_ops, n_nodes) the price of loading an operator at a node, in cost units."""
    return np.asarray(pull_seconds(problem) * problem.network.cost[None, :])


@dataclass(frozen=True, eq=False)
class MovePrices:
    """Prices of moves in one unit.

    Attributes:
        of_move: (n_ops, n_nodes) of an operator that comes to a node.
        of_change: Of moving anything at all.
    """

    of_move: FloatArray
    of_change: float = 0.0

    def from_one(self, start: IntArray, placements: IntArray) -> FloatArray:
        """Return (k,) the price of going from one placement to others.

        Args:
            start: (n_ops,) where operators are; what is unplaced, or was on a node that is gone, is free.
            placements: (n_ops, k).
        """
        pays = (start != UNPLACED) & (start != GONE)
        moved = pays[:, None] & (placements != start[:, None])
        loading = np.where(moved, np.take_along_axis(self.of_move, placements, axis=1), 0.0).sum(axis=0)
        total: FloatArray = loading + self.of_change * moved.any(axis=0)
        return total

    def to_one(self, placements: IntArray, end: IntArray) -> FloatArray:
        """Return (k,) the price of going from each of some placements, (n_ops, k), to one, (n_ops,)."""
        moved = placements != end[:, None]
        loading = self.of_move[np.arange(len(end)), end] @ moved
        return np.asarray(loading + self.of_change * moved.any(axis=0))

    def between(self, placements: IntArray) -> FloatArray:
        """Return (k, k) the price of going from each placement (n_ops, k) to each other one."""
        return np.array([self.from_one(each, placements) for each in placements.T]).reshape(
            placements.shape[1], placements.shape[1]
        )


def spread_price(weights: Mapping[str, float], part: float) -> dict[str, float]:
    """Return weights of sum 1 in which moves weigh only this part of what they weighed beside the others."""
    changed = {name: weight * (part if name == MIGRATION.name else 1.0) for name, weight in weights.items()}
    total = math.fsum(changed.values())
    return {name: weight / total for name, weight in changed.items()}
