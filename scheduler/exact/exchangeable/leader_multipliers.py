"""Multipliers that show the search over leaders what its bounds leave out (Lagrangian relaxation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.subgradient import StepRule, ascend
from scheduler.exact.form.slots import cheapest_counts

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.exact.exchangeable.leader_tables import LeaderTables

ITERATIONS = 249
"""Steps at most."""
THRESHOLDS = 25
"""Response times tried per iteration."""
STEPS = StepRule(patience=11, shortened=0.7)


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What followers and leaders pay in addition; for every placement the sums come out at most as before.

    Attributes:
        rebate: What all nodes together pay back, sum of multiplier x capacity.
        follower: (n_nodes,) charge for the capacity that a follower takes.
        leader: (n_nodes,) charge for the capacity that a leader takes.
        shifted: (n_nodes, n_nodes) the part of a pair's value that the leader pays instead of the follower.
    """

    rebate: float
    follower: FloatArray
    leader: FloatArray
    shifted: FloatArray

    @staticmethod
    def none(n_nodes: int) -> Multipliers:
        """Return multipliers of zero."""
        return Multipliers(0.0, np.zeros(n_nodes), np.zeros(n_nodes), np.zeros((n_nodes, n_nodes)))


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """Followers and leaders placed on their own.

    Attributes:
        per_node: (n_nodes, n_resources) multipliers of the capacities (>= 0).
        shifted: (n_nodes, n_nodes) multipliers of the agreement.
        bound: F of no placement is below this.
        over: (n_nodes, n_resources) overload.
        disagreement: (n_nodes, n_nodes) leaders placed and not reckoned with, less the other way round.
    """

    per_node: FloatArray
    shifted: FloatArray
    bound: float
    over: FloatArray
    disagreement: FloatArray


def find_multipliers(tables: LeaderTables, objective: float, work: Work) -> Multipliers:
    """Return multipliers under which followers and leaders, each placed on their own, nearly agree.

    A subgradient method on two relaxed conditions: capacities, and that the leaders which followers
    reckon with are those that are placed, and the other way round. The bound is not smooth in the second
    one and rises in jerks, so steps stay long: they are shortened late, by little, and never end the search.

    Complexity: O(ITERATIONS x n_nodes^2 log n_nodes).

    Args:
        tables: The problem.
        objective: F of the best placement known, finite.
        work: When to stop; n_nodes^2 per iteration.
    """
    n = len(tables.cost)

    def at(per_node: FloatArray, shifted: FloatArray) -> _Relaxed:
        work.add(n * n)
        return _relaxed(tables, per_node, shifted)

    def slopes(now: _Relaxed) -> tuple[FloatArray, ...]:
        return now.over, now.disagreement

    def step(now: _Relaxed, length: float, slope: tuple[FloatArray, ...]) -> _Relaxed:
        over, disagreement = slope
        return at(np.maximum(0.0, now.per_node + length * over), now.shifted + length * disagreement)

    start = at(np.zeros((n, tables.left.shape[1])), np.zeros((n, n)))
    found = ascend(start, slopes, step, target=objective, rule=STEPS, most=ITERATIONS, work=work)
    return Multipliers(
        rebate=float((found.per_node * tables.left).sum()),
        follower=found.per_node @ tables.follower_demand,
        leader=found.per_node @ tables.leader_demand,
        shifted=found.shifted,
    )


def _relaxed(tables: LeaderTables, per_node: FloatArray, shifted: FloatArray) -> _Relaxed:
    room = tables.room[:, 0]
    offered = np.repeat(tables.slots[None, :], len(room), axis=0)
    np.fill_diagonal(offered, np.minimum(tables.slots, tables.beside))
    ahead, expected = _cheapest(tables.pair - shifted, offered, tables.leaders)
    behind, followers = _cheapest(shifted.T, room, tables.followers)
    total, taken = _followers(tables, tables.cost + per_node @ tables.follower_demand + ahead, expected)
    leader_cost = tables.leader_cost + per_node @ tables.leader_demand + behind
    paid, placed = _cheapest(leader_cost, tables.slots, tables.leaders)
    bound = tables.constant + total + float(paid) - float((per_node * tables.left).sum())
    over = np.outer(taken, tables.follower_demand) + np.outer(placed, tables.leader_demand) - tables.left
    disagreement = placed[None, :] * followers.T - taken[:, None] * expected
    return _Relaxed(per_node, shifted, bound, over, disagreement)


def _followers(tables: LeaderTables, cost: FloatArray, expected: IntArray) -> tuple[float, IntArray]:
    """Return the least sum of costs and response time, and the followers per node behind it."""
    room = tables.room[:, 0]
    reach = np.where(expected > 0, tables.response, -np.inf).max(axis=1)
    best, taken = np.inf, np.zeros(len(cost), dtype=np.int64)
    levels = np.unique(reach[np.isfinite(reach)])
    for level in levels[:: max(1, len(levels) // THRESHOLDS)]:
        within = np.where(reach <= level, room, 0)
        if within.sum() < tables.followers:
            continue
        total, counts = _cheapest(cost, within, tables.followers)
        if total + level < best:
            best, taken = float(total + level), counts
    return best, taken


def _cheapest(values: FloatArray, room: IntArray, members: int) -> tuple[FloatArray, IntArray]:
    """Return (...) the least sum of values (..., n_nodes) of slots, and (..., n_nodes) the members there."""
    counts = cheapest_counts(values, room, members)
    return (values * counts).sum(axis=-1), counts
