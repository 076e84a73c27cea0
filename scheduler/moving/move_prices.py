"""What it costs to go from one placement to another: a price per operator and node to which it comes.

Moves are priced at the node that loads: so no detour is cheaper than the direct way.
"""

from __future__ import annotations

import math
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


def from_one(prices: FloatArray, start: IntArray, placements: IntArray) -> FloatArray:
    """Return (k,) the price of going from one placement to others.

    Args:
        prices: (n_ops, n_nodes) of coming to a node.
        start: (n_ops,) where operators are; what is unplaced, or was on a node that is gone, has no price.
        placements: (n_ops, k).
    """
    pays = (start != UNPLACED) & (start != GONE)
    moved = pays[:, None] & (placements != start[:, None])
    total: FloatArray = np.where(moved, np.take_along_axis(prices, placements, axis=1), 0.0).sum(axis=0)
    return total


def between(prices: FloatArray, placements: IntArray) -> FloatArray:
    """Return (k, k) the price of going from each placement (n_ops, k) to each other one."""
    count = placements.shape[1]
    total = np.zeros((count, count))
    for at, price in zip(placements, prices, strict=True):
        total += np.where(at[:, None] != at[None, :], price[at][None, :], 0.0)
    return total


def spread_price(weights: Mapping[str, float], part: float) -> dict[str, float]:
    """Return weights of sum 1 in which moves weigh only this part of what they weighed beside the others."""
    changed = {name: weight * (part if name == MIGRATION.name else 1.0) for name, weight in weights.items()}
    total = math.fsum(changed.values())
    return {name: weight / total for name, weight in changed.items()}
