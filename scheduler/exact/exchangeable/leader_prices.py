"""Prices that make the bounds of the search over leaders see what they leave out (Lagrangian relaxation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.form.slots import cheapest_counts

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.exact.exchangeable.leader_tables import LeaderTables

ROUNDS = 250
"""Changes of the prices."""
THRESHOLDS = 25
"""Response times tried per round."""
PATIENCE = 10
"""Rounds without a better bound after which steps become shorter."""


@dataclass(frozen=True, eq=False)
class Prices:
    """What followers and leaders pay in addition; for every placement the sums come out at most as before.

    Attributes:
        rebate: What all nodes together pay back, sum of price x capacity.
        follower: (n_nodes,) price of the capacity that a follower takes.
        leader: (n_nodes,) price of the capacity that a leader takes.
        shifted: (n_nodes, n_nodes) the part of a pair's value that the leader pays instead of the follower.
    """

    rebate: float
    follower: FloatArray
    leader: FloatArray
    shifted: FloatArray

    @staticmethod
    def none(n_nodes: int) -> Prices:
        """Return prices of zero."""
        return Prices(0.0, np.zeros(n_nodes), np.zeros(n_nodes), np.zeros((n_nodes, n_nodes)))


def tightened(tables: LeaderTables, objective: float, work: Work) -> Prices:
    """Return prices under which followers and leaders, each placed on their own, nearly agree.

    A subgradient method on two relaxed conditions: capacities, and that the leaders which followers
    reckon with are those that are placed, and the other way round. Its steps are Polyak's.

    Complexity: O(ROUNDS x n_nodes^2 log n_nodes).

    Args:
        tables: The problem.
        objective: F of the best placement known, finite.
        work: When to stop; n_nodes^2 per round.
    """
    n = len(tables.price)
    per_node = np.zeros((n, tables.left.shape[1]))
    shifted = np.zeros((n, n))
    best, found = -np.inf, (per_node, shifted)
    step, idle = 1.0, 0
    for _ in range(ROUNDS):
        if work.over():
            break
        work.add(n * n)
        bound, over, disagreement = _relaxed(tables, per_node, shifted)
        if bound > best:
            best, found, idle = bound, (per_node, shifted), 0
        else:
            idle += 1
        if idle > PATIENCE:
            step, idle = 0.7 * step, 0
        size = float((over**2).sum() + (disagreement**2).sum())
        if size == 0 or objective <= bound:
            break
        length = step * (objective - bound) / size
        per_node = np.maximum(0.0, per_node + length * over)
        shifted = shifted + length * disagreement
    per_node, shifted = found
    return Prices(
        rebate=float((per_node * tables.left).sum()),
        follower=per_node @ tables.follower_demand,
        leader=per_node @ tables.leader_demand,
        shifted=shifted,
    )


def _relaxed(
    tables: LeaderTables, per_node: FloatArray, shifted: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the bound, (n_nodes, n_resources) overload and (n_nodes, n_nodes) disagreement."""
    room = tables.room[:, 0]
    offered = np.repeat(tables.slots[None, :], len(room), axis=0)
    np.fill_diagonal(offered, np.minimum(tables.slots, tables.beside))
    ahead, expected = _cheapest(tables.pair - shifted, offered, tables.leaders)
    behind, followers = _cheapest(shifted.T, room, tables.followers)
    price = tables.price + per_node @ tables.follower_demand + ahead
    total, taken = _followers(tables, price, expected)
    leader_price = tables.leader_price + per_node @ tables.leader_demand + behind
    paid, placed = _cheapest(leader_price, tables.slots, tables.leaders)
    bound = tables.constant + total + float(paid) - float((per_node * tables.left).sum())
    over = np.outer(taken, tables.follower_demand) + np.outer(placed, tables.leader_demand) - tables.left
    disagreement = placed[None, :] * followers.T - taken[:, None] * expected
    return bound, over, disagreement


def _followers(tables: LeaderTables, price: FloatArray, expected: IntArray) -> tuple[float, IntArray]:
    """Return the least sum of prices and response time, and the followers per node behind it."""
    room = tables.room[:, 0]
    reach = np.where(expected > 0, tables.response, -np.inf).max(axis=1)
    best, taken = np.inf, np.zeros(len(price), dtype=np.int64)
    levels = np.unique(reach[np.isfinite(reach)])
    for level in levels[:: max(1, len(levels) // THRESHOLDS)]:
        within = np.where(reach <= level, room, 0)
        if within.sum() < tables.followers:
            continue
        total, counts = _cheapest(price, within, tables.followers)
        if total + level < best:
            best, taken = float(total + level), counts
    return best, taken


def _cheapest(values: FloatArray, room: IntArray, members: int) -> tuple[FloatArray, IntArray]:
    """Return (...) the least sum of values (..., n_nodes) of slots, and (..., n_nodes) the members there."""
    counts = cheapest_counts(values, room, members)
    return (values * counts).sum(axis=-1), counts
