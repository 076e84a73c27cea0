"""Branch and bound over the places of leaders; followers take the cheapest slots that are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.exact.form.slots import cheapest_counts, cheapest_sum, dearest_taken

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.contract.incumbent import Incumbent
    from scheduler.exact.exchangeable.leader_multipliers import Multipliers
    from scheduler.exact.exchangeable.leader_tables import LeaderTables
    from scheduler.exact.form.class_form import ClassForm

SOURCE = "branch and bound"
FEW = 4
"""Slots per node up to which choosing among all slots beats sorting nodes, and takes little memory."""


@dataclass(frozen=True, eq=False)
class _Branch:
    """Leaders placed so far.

    Attributes:
        bound: Lower limit of F whatever follows.
        first: Position in the order of nodes from which the next leader may be placed.
        placed: (n_nodes,) leaders.
        cost: (n_nodes,) of a follower at u, given the leaders placed.
        response: (n_nodes,) response time in F that a follower at u brings about.
        paid: F of the leaders placed.
        left: Leaders still to be placed.
    """

    bound: float
    first: int
    placed: IntArray
    cost: FloatArray
    response: FloatArray
    paid: float
    left: int


class LeaderSearch:
    """Depth first, the most promising child first; leaders in ascending order, so that none is met twice."""

    def __init__(
        self, tables: LeaderTables, form: ClassForm, incumbent: Incumbent, multipliers: Multipliers
    ) -> None:
        self._tables = tables
        self._form = form
        self._incumbent = incumbent
        self._multipliers = multipliers
        self._most = max(1, int(tables.room.max()))
        usable = np.flatnonzero(tables.slots > 0)
        appeal = tables.leader_cost + np.sort(tables.pair, axis=0)[: tables.followers].sum(axis=0)
        self._order = usable[np.argsort(appeal[usable], kind="stable")]
        self._ahead = _optimistic(tables, multipliers, self._order)

    def run(self, work: Work) -> bool:
        """Search to the end or until it is time to stop; return whether it came to the end."""
        n = self._form.n_nodes
        leaders = self._tables.leaders
        least = np.zeros(n) if leaders else self._tables.response[:, 0]
        start = _Branch(
            bound=-np.inf,
            first=0,
            placed=np.zeros(n, dtype=np.int64),
            cost=self._tables.cost,
            response=least,
            paid=self._tables.constant - self._multipliers.rebate,
            left=leaders,
        )
        if not leaders:
            self._finish(start)
        else:
            for child in self._children(start):
                nothing_below = min(child.bound, self._incumbent.objective) - OBJECTIVE_STEP
                self._incumbent.raise_bound(nothing_below, SOURCE)
                if not self._explore(child, work):
                    return False
        if self._incumbent.placement is None:
            return False
        self._incumbent.raise_bound(self._incumbent.objective - OBJECTIVE_STEP, SOURCE)
        return True

    def _explore(self, start: _Branch, work: Work) -> bool:
        """Explore everything below a branch; return whether there was time for it."""
        pending = [start]
        while pending:
            branch = pending.pop()
            if branch.bound >= self._limit:
                continue
            if work.over():
                return False
            if branch.left == 0:
                self._finish(branch)
            elif self._joint_bound(branch) < self._limit:
                work.add((len(self._order) - branch.first) * self._form.n_nodes)
                pending.extend(reversed(self._children(branch)))
        return True

    @property
    def _limit(self) -> float:
        return self._incumbent.objective - OBJECTIVE_STEP

    def _children(self, branch: _Branch) -> list[_Branch]:
        """Return the children that may hold something better, by ascending bound."""
        tables, order = self._tables, self._order
        positions = np.arange(branch.first, len(order))
        positions = positions[branch.placed[order[positions]] < tables.slots[order[positions]]]
        if positions.size == 0:
            return []
        v = order[positions]
        many = np.arange(len(v))
        left = branch.left - 1
        placed = np.repeat(branch.placed[None], len(v), axis=0)
        placed[many, v] += 1
        cost = branch.cost + tables.pair[:, v].T
        response = np.maximum(branch.response, tables.response[:, v].T)
        paid = branch.paid + tables.leader_cost[v] + self._multipliers.leader[v]
        room = self._room(placed)
        ahead = cost + self._multipliers.follower + self._ahead.cost[positions, left]
        bounds = paid + self._ahead.paid[positions, left] + self._cheapest(ahead, room)
        if self._form.response_factor > 0:
            later = np.maximum(response, self._ahead.response[positions, left])
            bounds = bounds + self._dearest(later, room)
        promising = np.flatnonzero(bounds < self._limit)
        return [
            _Branch(
                float(bounds[k]), int(positions[k]), placed[k], cost[k], response[k], float(paid[k]), left
            )
            for k in promising[np.argsort(bounds[promising], kind="stable")]
        ]

    def _room(self, placed: IntArray) -> IntArray:
        return np.take_along_axis(
            np.broadcast_to(self._tables.room, (*placed.shape, self._tables.room.shape[1])),
            placed[..., None],
            axis=-1,
        )[..., 0]

    def _few(self, values: FloatArray, room: IntArray) -> FloatArray | None:
        """Return the values of as many cheapest slots as there are followers, (..., followers) unsorted.

        None if nodes have many slots: for the few that they mostly have, selecting beats sorting nodes.
        """
        followers = self._tables.followers
        if self._most > FEW or room.shape[-1] * self._most < followers:
            return None
        slots = np.concatenate([np.where(room > k, values, np.inf) for k in range(self._most)], axis=-1)
        if slots.shape[-1] <= followers:
            return slots
        return np.partition(slots, followers - 1, axis=-1)[..., :followers]

    def _cheapest(self, values: FloatArray, room: IntArray) -> FloatArray:
        """Return the least sum of values that the followers' slots have, infinite if there are too few."""
        few = self._few(values, room)
        return (
            cheapest_sum(values, room, self._tables.followers)
            if few is None
            else np.asarray(few.sum(axis=-1))
        )

    def _dearest(self, values: FloatArray, room: IntArray) -> FloatArray:
        """Return the least possible largest value of the followers' slots, infinite if there are too few."""
        few = self._few(values, room)
        return (
            dearest_taken(values, room, self._tables.followers)
            if few is None
            else np.asarray(few.max(axis=-1))
        )

    def _joint_bound(self, branch: _Branch) -> float:
        """Return a bound that weighs costs against response time, which the quick one adds up apart."""
        if self._form.response_factor == 0:
            return branch.bound
        cost = branch.cost + self._multipliers.follower + self._ahead.cost[branch.first, branch.left]
        response = np.maximum(branch.response, self._ahead.response[branch.first, branch.left])
        paid = branch.paid + float(self._ahead.paid[branch.first, branch.left])
        room = self._room(branch.placed)
        return paid + self._best_threshold(cost, response, room, self._limit - paid)[1]

    def _best_threshold(
        self, cost: FloatArray, response: FloatArray, room: IntArray, limit: float
    ) -> tuple[float, float]:
        """Return the threshold on response time with the least sum of it and the slots within it.

        Sums from `limit` on are of no use; if there is no other, the sum returned is infinite.
        """
        thresholds = np.unique(response[room > 0])
        longest = limit - float(self._cheapest(cost, room))
        useful = (thresholds >= self._dearest(response, room)) & (thresholds < longest)
        thresholds = thresholds[useful]
        if thresholds.size == 0:
            return np.inf, np.inf
        within = np.where(response[None, :] <= thresholds[:, None], room[None, :], 0)
        totals = thresholds + self._cheapest(cost, within)
        best = int(totals.argmin())
        return float(thresholds[best]), float(totals[best])

    def _finish(self, branch: _Branch) -> None:
        """Offer the best placement with these leaders; nothing is ahead, so true costs decide."""
        room = self._room(branch.placed)
        paid = self._tables.constant + float(self._tables.leader_cost @ branch.placed)
        threshold = np.inf
        if self._form.response_factor > 0:
            threshold, total = self._best_threshold(branch.cost, branch.response, room, self._limit - paid)
            if paid + total >= self._limit:
                return
        room = np.where(branch.response <= threshold, room, 0)
        if room.sum() < self._tables.followers:
            return
        counts = self._tables.base.copy()
        counts[self._tables.follower] = cheapest_counts(branch.cost, room, self._tables.followers)
        if self._tables.leader is not None:
            counts[self._tables.leader] = branch.placed
        self._incumbent.offer(self._form.placement(counts), SOURCE)


@dataclass(frozen=True, eq=False)
class _Ahead:
    """What leaders add at least when they may use the nodes from a position of the order on.

    Attributes:
        cost: (positions + 1, leaders + 1, n_nodes) to the cost of a follower at u.
        response: (positions + 1, leaders + 1, n_nodes) the response time that a follower at u gets.
        paid: (positions + 1, leaders + 1) for their own places.
    """

    cost: FloatArray
    response: FloatArray
    paid: FloatArray


def _optimistic(tables: LeaderTables, multipliers: Multipliers, order: IntArray) -> _Ahead:
    """Return the least additions; a follower at u keeps a slot of its own branch.

    With multipliers, a follower sees pairs without the part that leaders pay, and a leader pays that part for
    the followers that make it least.
    """
    n, leaders = len(tables.cost), tables.leaders
    shape = (len(order) + 1, leaders + 1)
    ahead = np.full((*shape, n), np.inf)
    response = np.full((*shape, n), np.inf)
    paid = np.full(shape, np.inf)
    ahead[:, 0], response[:, 0], paid[:, 0] = 0.0, 0.0, 0.0
    pair = tables.pair - multipliers.shifted
    behind = cheapest_sum(multipliers.shifted.T, tables.room[:, 0], tables.followers)
    leader_cost = tables.leader_cost + multipliers.leader + behind
    cheapest = np.full((n, leaders), np.inf)  # the cheapest slots so far, per follower's node
    quickest = np.full((n, leaders), np.inf)
    own = np.full(leaders, np.inf)
    each = np.arange(leaders)
    for position in range(len(order) - 1, -1, -1):
        v = int(order[position])
        count = np.full(n, tables.slots[v])
        count[v] = min(int(count[v]), int(tables.beside[v]))
        within = each < count[:, None]
        cheapest = _merged(cheapest, np.where(within, pair[:, v, None], np.inf))
        quickest = _merged(quickest, np.where(within, tables.response[:, v, None], np.inf))
        own = _merged(own, np.where(each < tables.slots[v], leader_cost[v], np.inf))
        ahead[position, 1:] = np.cumsum(cheapest, axis=1).T
        response[position, 1:] = quickest.T
        paid[position, 1:] = np.cumsum(own)
    return _Ahead(ahead, response, paid)


def _merged(sorted_values: FloatArray, others: FloatArray) -> FloatArray:
    """Return the least of both, as many as there were, ascending along the last axis."""
    both = np.sort(np.concatenate([sorted_values, others], axis=-1), axis=-1)
    return both[..., : sorted_values.shape[-1]]
