"""Exact search where at most two classes of operators are free: place one, and the other follows.

Layered applications whose ends are pinned have this shape, however many replicas their layers have: with
the members of one class placed, every place of the other class has a price of its own, and its members
take the cheapest slots. So a branch and bound over the smaller class alone is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation import OBJECTIVE_STEP
from scheduler.exact.form import most_members
from scheduler.exact.pair_response import pair_response_times
from scheduler.exact.slots import cheapest_counts

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.deadline import Deadline
    from scheduler.exact.form import ClassForm
    from scheduler.exact.incumbent import Incumbent

LARGEST_TABLE = 20_000_000
"""Floats in the table of optimistic prices; larger problems are left to others."""
SOURCE = "branch and bound"


def search_two_classes(form: ClassForm, incumbent: Incumbent, deadline: Deadline) -> bool:
    """Prove the incumbent optimal or find better ones; return whether a proof was completed.

    False means that the problem has another shape, or that the deadline ended the search; the incumbent
    and its bound keep what was found.

    Complexity: exponential in the members of the smaller free class; a step costs O(n_nodes^2) at most.
    """
    free = [c for c in range(form.n_classes) if (form.slots[c] > 0).sum() > 1]
    fixed = [c for c in range(form.n_classes) if c not in free]
    if not 1 <= len(free) <= 2 or any(form.slots[c].max() < form.size[c] for c in fixed):
        return False
    follower, *rest = sorted(free, key=lambda c: (-form.size[c], c))
    leader = rest[0] if rest else None
    if form.n_nodes**2 * (form.size[leader] + 1 if rest else 1) > LARGEST_TABLE:
        return False
    return _Search(_tables(form, fixed, leader, follower), form, incumbent, deadline).run()


@dataclass(frozen=True, eq=False)
class _Tables:
    """The problem in prices; u is a node of a follower, v one of a leader.

    Attributes:
        leader: Class that is branched on; None if there is none.
        follower: Class that takes the cheapest slots.
        base: (n_classes, n_nodes) counts of the fixed classes.
        constant: F of the fixed classes alone, without response time.
        price: (n_nodes,) of a follower at u, without leaders.
        leader_price: (n_nodes,) of a leader at v.
        pair: (n_nodes, n_nodes) what a follower at u and a leader at v add together.
        response: (n_nodes, n_nodes) response time in F of a follower at u and a leader at v, w_r R scaled.
        room: (n_nodes, leaders + 1) followers that u takes beside so many leaders.
        slots: (n_nodes,) leaders that v takes.
    """

    leader: int | None
    follower: int
    base: IntArray
    constant: float
    price: FloatArray
    leader_price: FloatArray
    pair: FloatArray
    response: FloatArray
    room: IntArray
    slots: IntArray


def _tables(form: ClassForm, fixed: list[int], leader: int | None, follower: int) -> _Tables:
    n = form.n_nodes
    base = np.zeros((form.n_classes, n), dtype=np.int64)
    for c in fixed:
        base[c, form.slots[c].argmax()] = form.size[c]
    constant = form.constant + float((form.unary * base).sum())
    price = {c: form.unary[c].copy() for c in (follower, leader) if c is not None}
    pair = np.zeros((n, n))
    for edge in form.edges:
        if edge.cost is None:
            continue
        ends = (edge.source, edge.target)
        if all(c in price for c in ends):
            pair += edge.cost if edge.source == follower else edge.cost.T
        elif edge.source in price:
            price[edge.source] += edge.cost @ base[edge.target]
        elif edge.target in price:
            price[edge.target] += base[edge.source] @ edge.cost
        else:
            constant += float(base[edge.source] @ edge.cost @ base[edge.target])
    left = form.capacity - base.T.astype(np.float64) @ form.demand
    size = int(form.size[follower])
    leaders = 0 if leader is None else int(form.size[leader])
    each = np.zeros(form.demand.shape[1]) if leader is None else form.demand[leader]
    beside = left[:, None, :] - np.arange(leaders + 1)[None, :, None] * each
    room = np.minimum(most_members(form.demand[follower], beside), size)
    room[form.slots[follower] == 0] = 0
    slots = np.zeros(n, dtype=np.int64)
    if leader is not None:
        most = np.minimum(most_members(each, left), leaders)
        slots = np.where(form.slots[leader] > 0, most, 0).astype(np.int64)
    return _Tables(
        leader=leader,
        follower=follower,
        base=base,
        constant=constant,
        price=price[follower],
        leader_price=np.zeros(n) if leader is None else price[leader],
        pair=pair,
        response=form.response_factor * pair_response_times(form, base, follower, leader),
        room=room.astype(np.int64),
        slots=slots,
    )


@dataclass(frozen=True, eq=False)
class _Node:
    """Leaders placed so far.

    Attributes:
        bound: Lower limit of F whatever follows.
        first: Position in the order of nodes from which the next leader may be placed.
        placed: (n_nodes,) leaders.
        price: (n_nodes,) of a follower at u, given the leaders placed.
        response: (n_nodes,) response time in F that a follower at u brings about.
        paid: F of the leaders placed.
        left: Leaders still to be placed.
    """

    bound: float
    first: int
    placed: IntArray
    price: FloatArray
    response: FloatArray
    paid: float
    left: int


class _Search:
    """Depth first, the most promising child first; leaders in ascending order, so that none is met twice."""

    def __init__(self, tables: _Tables, form: ClassForm, incumbent: Incumbent, deadline: Deadline) -> None:
        self._tables = tables
        self._form = form
        self._incumbent = incumbent
        self._deadline = deadline
        self._size = int(form.size[tables.follower])
        self._most = max(1, int(tables.room.max()))
        self._leaders = 0 if tables.leader is None else int(form.size[tables.leader])
        usable = np.flatnonzero(tables.slots > 0)
        appeal = tables.leader_price + np.sort(tables.pair, axis=0)[: self._size].sum(axis=0)
        self._order = usable[np.argsort(appeal[usable], kind="stable")]
        self._ahead, self._ahead_paid = self._optimistic()

    def run(self) -> bool:
        """Search to the end or to the deadline; return whether it came to the end."""
        n = self._form.n_nodes
        least = np.full(n, 0.0) if self._leaders else self._tables.response[:, 0]
        start = _Node(
            bound=-np.inf,
            first=0,
            placed=np.zeros(n, dtype=np.int64),
            price=self._tables.price,
            response=least,
            paid=self._tables.constant,
            left=self._leaders,
        )
        if not self._leaders:
            self._finish(start)
        else:
            for child in self._children(start):
                nothing_below = min(child.bound, self._incumbent.objective) - OBJECTIVE_STEP
                self._incumbent.raise_bound(nothing_below, SOURCE)
                if not self._explore(child):
                    return False
        if self._incumbent.placement is None:
            return False
        self._incumbent.raise_bound(self._incumbent.objective - OBJECTIVE_STEP, SOURCE)
        return True

    def _explore(self, start: _Node) -> bool:
        """Explore everything below a node; return whether the deadline left the time for it."""
        pending = [start]
        while pending:
            node = pending.pop()
            if node.bound >= self._limit:
                continue
            if self._deadline.expired():
                return False
            if node.left == 0:
                self._finish(node)
            else:
                pending.extend(reversed(self._children(node)))
        return True

    @property
    def _limit(self) -> float:
        return self._incumbent.objective - OBJECTIVE_STEP

    def _optimistic(self) -> tuple[FloatArray, FloatArray]:
        """Return what leaders add at least when they may use the nodes from a position on.

        That is (positions + 1, leaders + 1, n_nodes) for the price of a follower at u, which keeps a slot
        of its own node, and (positions + 1, leaders + 1) for their own prices.
        """
        tables, order, leaders = self._tables, self._order, self._leaders
        n = self._form.n_nodes
        ahead = np.full((len(order) + 1, leaders + 1, n), np.inf)
        paid = np.full((len(order) + 1, leaders + 1), np.inf)
        ahead[:, 0], paid[:, 0] = 0.0, 0.0
        beside = (tables.room > 0).sum(axis=1) - 1  # leaders that leave room for a follower at u
        best = np.full((n, leaders), np.inf)  # the cheapest slots so far, per follower's node
        own = np.full(leaders, np.inf)
        for position in range(len(order) - 1, -1, -1):
            v = int(order[position])
            count = np.full(n, tables.slots[v])
            count[v] = min(int(count[v]), max(0, int(beside[v])))
            offered = np.where(np.arange(leaders) < count[:, None], tables.pair[:, v, None], np.inf)
            best = np.sort(np.concatenate([best, offered], axis=1), axis=1)[:, :leaders]
            price = np.where(np.arange(leaders) < tables.slots[v], tables.leader_price[v], np.inf)
            own = np.sort(np.concatenate([own, price]))[:leaders]
            ahead[position, 1:] = np.cumsum(best, axis=1).T
            paid[position, 1:] = np.cumsum(own)
        return ahead, paid

    def _children(self, node: _Node) -> list[_Node]:
        """Return the children that may hold something better, by ascending bound."""
        tables, order = self._tables, self._order
        positions = np.arange(node.first, len(order))
        positions = positions[node.placed[order[positions]] < tables.slots[order[positions]]]
        if positions.size == 0:
            return []
        v = order[positions]
        many = np.arange(len(v))
        left = node.left - 1
        placed = np.repeat(node.placed[None], len(v), axis=0)
        placed[many, v] += 1
        price = node.price + tables.pair[:, v].T
        response = np.maximum(node.response, tables.response[:, v].T)
        paid = node.paid + tables.leader_price[v]
        room = self._room(placed)
        ahead = price + self._ahead[positions, left]
        bounds = paid + self._ahead_paid[positions, left] + self._cheapest(ahead, room)
        if self._form.response_factor > 0:
            bounds = bounds + self._dearest(response, room)
        promising = np.flatnonzero(bounds < self._limit)
        return [
            _Node(float(bounds[k]), int(positions[k]), placed[k], price[k], response[k], float(paid[k]), left)
            for k in promising[np.argsort(bounds[promising], kind="stable")]
        ]

    def _room(self, placed: IntArray) -> IntArray:
        return np.take_along_axis(
            np.broadcast_to(self._tables.room, (*placed.shape, self._tables.room.shape[1])),
            placed[..., None],
            axis=-1,
        )[..., 0]

    def _slots(self, values: FloatArray, room: IntArray) -> FloatArray:
        """Return the values of as many cheapest slots as there are followers, (..., followers) unsorted."""
        # one column per node and slot: for the few slots that nodes have, selecting beats sorting nodes
        slots = np.concatenate([np.where(room > k, values, np.inf) for k in range(self._most)], axis=-1)
        if slots.shape[-1] <= self._size:
            return slots
        chosen: FloatArray = np.partition(slots, self._size - 1, axis=-1)[..., : self._size]
        return chosen

    def _cheapest(self, values: FloatArray, room: IntArray) -> FloatArray:
        """Return the least sum of values that the followers' slots have, infinite if there are too few."""
        if room.shape[-1] * self._most < self._size:
            return np.full(np.broadcast_shapes(values.shape, room.shape)[:-1], np.inf)
        total: FloatArray = self._slots(values, room).sum(axis=-1)
        return total

    def _dearest(self, values: FloatArray, room: IntArray) -> FloatArray:
        """Return the least possible largest value of the followers' slots, infinite if there are too few."""
        if room.shape[-1] * self._most < self._size:
            return np.full(np.broadcast_shapes(values.shape, room.shape)[:-1], np.inf)
        largest: FloatArray = self._slots(values, room).max(axis=-1)
        return largest

    def _best_threshold(self, price: FloatArray, response: FloatArray, room: IntArray) -> tuple[float, float]:
        """Return the threshold on response time with the least sum of it and the slots below it."""
        thresholds = np.unique(response[room > 0])
        thresholds = thresholds[thresholds >= self._dearest(response, room)]
        if thresholds.size == 0:
            return np.inf, np.inf
        within = np.where(response[None, :] <= thresholds[:, None], room[None, :], 0)
        totals = thresholds + self._cheapest(price, within)
        best = int(totals.argmin())
        return float(thresholds[best]), float(totals[best])

    def _finish(self, node: _Node) -> None:
        """Offer the best placement with these leaders."""
        room = self._room(node.placed)
        threshold = np.inf
        if self._form.response_factor > 0:
            threshold, total = self._best_threshold(node.price, node.response, room)
            if node.paid + total >= self._limit:
                return
        room = np.where(node.response <= threshold, room, 0)
        if room.sum() < self._size:
            return
        counts = self._tables.base.copy()
        counts[self._tables.follower] = cheapest_counts(node.price, room, self._size)
        if self._tables.leader is not None:
            counts[self._tables.leader] = node.placed
        self._incumbent.offer(self._form.placement(counts), SOURCE)
