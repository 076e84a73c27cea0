"""First-fit placement over a list of nodes, with repair where first-fit alone gets stuck."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, windows
from scheduler.base.graph import breadth_first
from scheduler.construct.under_rules import place_under_rules
from scheduler.contract.strategy import Suggestion
from scheduler.model.capacity import fits, most_members, remaining
from scheduler.model.problem import UNPLACED, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.model.node_sets import Kinds

AT_ONCE = "first-fit placed every operator"
"""The reason of a placement for which nothing had to be done anew."""
LONG_RUN = 8
"""Operators of one kind in a row from which they are placed together."""


@dataclass(frozen=True, eq=False)
class NodeOrder:
    """The order in which operators try the nodes.

    Attributes:
        nodes: (n_nodes,) every node once.
        onward: False: every operator starts at the head of the list. True: it starts behind the node taken
            by the operator before it, and goes on from the head at the end of the list.
    """

    nodes: IntArray
    onward: bool = False


def place_in_order(problem: Problem, order: NodeOrder, sequence: Sequence[int]) -> Suggestion:
    """Place pinned operators, then the others in sequence, each on the first node where it fits.

    If an operator fits nowhere, everything is placed anew with the most restricted operators first,
    and one that then finds no node makes room by moving others along a shortest chain. With equal
    demands that finds a placement whenever one exists; otherwise it may fail although one exists, and the
    reason says that nothing is proved. Under rules besides allowed nodes and capacities see
    `place_under_rules`.

    Complexity: O(n_ops + n_nodes x kinds of operators) as long as first-fit does not get stuck.

    Args:
        problem: The problem.
        order: Nodes to try.
        sequence: All operators, in the order of placing.
    """
    choices = problem.node_sets.choices.tolist()
    pins_first = sorted(sequence, key=lambda i: choices[i] != 1)
    if problem.rules:
        return place_under_rules(problem, order, pins_first, AT_ONCE)
    placement, stuck = _fill(problem, order, pins_first, repair=False)
    if stuck is None:
        return Suggestion(placement, AT_ONCE)
    # before the repair, which may look long for what does not exist
    proof = problem.infeasibility
    if proof is not None:
        return Suggestion(None, proof, proved=True)
    share = (problem.demand / np.maximum(problem.capacity.mean(axis=0), 1e-12)).max(axis=1, initial=0.0)
    restricted_first = sorted(sequence, key=lambda i: (choices[i], -share[i]))
    placement, stuck = _fill(problem, order, restricted_first, repair=True)
    if stuck is None:
        return Suggestion(placement, f"{AT_ONCE}, the most restricted ones first")
    operator = problem.application.operators[stuck].name
    return Suggestion(
        None, f"no room was found for operator {operator}, though it is not proved that none exists"
    )


def breadth_first_operators(problem: Problem) -> list[int]:
    """Return the operators breadth-first from the sources over critical streams, unconnected ones last."""
    return breadth_first(problem.n_ops, problem.application.critical_ends())


class _Room:
    """What is free on the nodes of a list, and where operators of each kind find it first."""

    def __init__(self, problem: Problem, kinds: Kinds, nodes: IntArray) -> None:
        self._kinds = kinds
        self._nodes = nodes
        self._sets = problem.node_sets.nodes
        self._set_in_order: dict[int, BoolArray] = {}
        self.reset(problem.capacity)

    def reset(self, free: FloatArray) -> None:
        """Take over what is free, (n_nodes, n_resources)."""
        self._free = free[self._nodes]
        self._full = np.zeros(len(self._kinds.demand), dtype=np.int64)

    def take(self, kind: int, start: int) -> int | None:
        """Return the place in the list of the first node with room from `start` on, and occupy it."""
        # places before this one had no room for the kind before, and room only ever gets less
        head = int(self._full[kind])
        found = self._first(kind, max(start, head), len(self._nodes))
        if found is None:
            found = self._first(kind, head, start)
        if start <= head:
            self._full[kind] = len(self._nodes) if found is None else found
        if found is not None:
            self._free[found] -= self._kinds.demand[kind]
        return found

    def take_many(self, kind: int, count: int) -> IntArray:
        """Return the places of up to `count` operators of a kind, each on the first node with room.

        They are occupied; the operators that are missing found none.
        """
        usable, demand = self._usable(kind), self._kinds.demand[kind]
        taken: list[IntArray] = []
        for begin, until in windows(int(self._full[kind]), len(self._nodes)):
            if not count:
                break
            free = self._free[begin:until]
            # without any demand all go to the first node
            each = np.minimum(most_members(demand, free), count)
            each = np.where(usable[begin:until], each, 0.0).astype(np.int64)
            each = np.diff(np.minimum(np.cumsum(each), count), prepend=0)
            free -= each[:, None] * demand
            taken.append(begin + np.repeat(np.arange(len(each)), each))
            count -= len(taken[-1])
            # the last node used may have room left
            self._full[kind] = taken[-1][-1] if not count else until
        return np.concatenate(taken) if taken else np.empty(0, dtype=np.int64)

    def _first(self, kind: int, begin: int, end: int) -> int | None:
        usable, demand = self._usable(kind), self._kinds.demand[kind]
        for first, until in windows(begin, end):
            open_places = usable[first:until] & fits(demand, self._free[first:until])
            place = int(open_places.argmax())
            if open_places[place]:
                return first + place
        return None

    def _usable(self, kind: int) -> BoolArray:
        node_set = int(self._kinds.node_set[kind])
        if node_set not in self._set_in_order:
            self._set_in_order[node_set] = self._sets[node_set][self._nodes]
        return self._set_in_order[node_set]


def _fill(
    problem: Problem, order: NodeOrder, sequence: Sequence[int], *, repair: bool
) -> tuple[IntArray, int | None]:
    """Return the placement and the operator that found no node, if any."""
    kinds, operators = problem.kinds, np.array(sequence)
    placement = np.full(problem.n_ops, UNPLACED, dtype=np.int64)
    room = _Room(problem, kinds, order.nodes)
    position = np.argsort(order.nodes)
    start = 0
    new_kind = np.flatnonzero(np.diff(kinds.member[operators])) + 1
    for run in np.split(operators, new_kind):
        kind = int(kinds.member[run[0]])
        places = room.take_many(kind, len(run)) if len(run) >= LONG_RUN and not order.onward else run[:0]
        placement[run[: len(places)]] = order.nodes[places]
        for i in run[len(places) :].tolist():
            place = room.take(kind, start)
            if place is not None:
                placement[i] = order.nodes[place]
            elif repair and _make_room(problem, placement, i, np.roll(order.nodes, -start)):
                room.reset(remaining(problem, placement))
                place = int(position[placement[i]])
            else:
                return placement, i
            if order.onward:
                start = (place + 1) % problem.n_nodes
    return placement, None


def _make_room(problem: Problem, placement: IntArray, operator: int, nodes: IntArray) -> bool:
    """Place an operator by moving others along a shortest chain of displacements; in place.

    An augmenting path of a bipartite matching with capacities: each node occurs at most once in the chain.
    """
    free: FloatArray = remaining(problem, placement)
    asks_for: dict[int, tuple[int, int]] = {}  # displaced operator -> (operator that takes its place, node)
    queue = deque([operator])
    seen_nodes = np.zeros(problem.n_nodes, dtype=np.bool_)
    asked: set[int] = set()
    while queue:
        mover = queue.popleft()
        kind = int(problem.kinds.member[mover])
        if kind in asked:  # an operator like it has been to all nodes it could go to
            continue
        asked.add(kind)
        demand = problem.demand[mover]
        open_nodes = nodes[(problem.allowed[mover] & ~seen_nodes)[nodes]]
        fitting = fits(demand, free[open_nodes])
        first = int(fitting.argmax()) if fitting.any() else len(open_nodes)
        for j, u in _displaceable(problem, placement, free, demand, open_nodes[:first]):
            seen_nodes[u] = True
            asks_for[j] = (mover, u)
            queue.append(j)
        if first < len(open_nodes):
            _displace(placement, asks_for, mover, int(open_nodes[first]))
            return True
    return False


def _displaceable(
    problem: Problem, placement: IntArray, free: FloatArray, demand: FloatArray, nodes: IntArray
) -> list[tuple[int, int]]:
    """Return operators on these nodes whose leaving makes room for a demand, each with its node, in order."""
    rank = np.full(problem.n_nodes + 1, len(nodes))  # the last place is for UNPLACED
    rank[nodes] = np.arange(len(nodes))
    hosted = np.flatnonzero(rank[placement] < len(nodes))
    leaving = hosted[fits(demand, free[placement[hosted]] + problem.demand[hosted])]
    leaving = leaving[np.argsort(rank[placement[leaving]], kind="stable")]
    return list(zip(leaving.tolist(), placement[leaving].tolist(), strict=True))


def _displace(placement: IntArray, asks_for: dict[int, tuple[int, int]], mover: int, node: int) -> None:
    """Carry out a chain from its end back to the operator that had no node."""
    placement[mover] = node
    while mover in asks_for:
        mover, node = asks_for[mover]
        placement[mover] = node
