"""One job is placed: sites, racks and hosts are chosen from the outside inwards, and filled one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.filling import Piece, fill_node
from scheduler.packing.grouping import group_components
from scheduler.packing.job import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job

# Amounts are sums of many demands: rounding must not make a node too small.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Manner:
    """How densely nodes are filled.

    Attributes:
        share: Part of a node's capacity up to which a job that needs several nodes fills it at first. Below 1
            it leaves something of every resource to others, instead of all of one and nothing of another.
    """

    share: float = 1.0


def place_job(fleet: Fleet, ledger: Ledger, job: Job, manner: Manner) -> list[Worker]:
    """Place as many executors of a job as there is room for.

    Args:
        fleet: The nodes.
        ledger: What is left of them; what the job takes is taken from it.
        job: The job.
        manner: How densely nodes are filled.

    Returns:
        New workers, also if not all executors found room.
    """
    placing = _Placing(fleet, ledger, job, manner)
    everywhere = np.flatnonzero(ledger.slots > 0)
    if not placing.into_one_node(everywhere):
        placing.into_groups(everywhere, len(fleet.levels) - 1)
        if placing.left:
            placing.to_the_brim()
            placing.into_groups(np.flatnonzero(ledger.slots > 0), len(fleet.levels) - 1)
    return placing.workers


class _Placing:
    """A job that is being placed."""

    def __init__(self, fleet: Fleet, ledger: Ledger, job: Job, manner: Manner) -> None:
        self.workers: list[Worker] = []
        self._fleet = fleet
        self._ledger = ledger
        self._job = job
        self._rest = np.array(job.count)
        self._groups = group_components(job.weight_between, self._sizes())
        self._kept = fleet.capacity * (1.0 - manner.share)
        self._greedy = False
        self._demand = job.demand.tolist()
        self._heap_mb = job.heap_mb.tolist()
        self._share = job.worker_share.tolist()
        self._rank = np.zeros(fleet.n_nodes, dtype=np.int64) if job.rank is None else job.rank
        self._seen = np.zeros(fleet.n_nodes, dtype=np.bool_)
        for worker in job.running:
            self._seen[worker.node] = True

    @property
    def left(self) -> bool:
        """Whether executors have no node yet."""
        return bool(self._rest.any())

    def to_the_brim(self) -> None:
        """Leave nothing of a node to others any more, and take executors in whatever order they fit."""
        self._kept = np.zeros_like(self._kept)
        self._greedy = True

    def into_one_node(self, nodes: IntArray) -> bool:
        """Place the whole job on the node that it fills best, the nearest to what runs, if it fits on one."""
        if self._job.permitted is not None:
            nodes = nodes[self._job.permitted[self._rest > 0][:, nodes].all(axis=0)]
        needed = self._needed()
        fits = nodes[self._takes_all(nodes, needed)]
        if not len(fits):
            return False
        tightness = _rooms(self._ledger.free[fits], needed)
        nearness = self._nearness(fits)
        for at in np.lexsort((fits, tightness, -nearness, self._rank[fits])).tolist():
            before = len(self.workers)
            self._fill(int(fits[at]), whole=True)
            if not self.left:
                return True
            # Workers could not be filled to the brim: it is given back, and the next node tried.
            self._undo(before)
        return False

    def into_groups(self, nodes: IntArray, level: int) -> None:
        """Place on the nodes, by groups of a level from the best one on.

        Args:
            nodes: The nodes.
            level: The level; below the smallest one nodes are filled one by one.
        """
        if level < 0 or len(nodes) == 1:
            self._onto(nodes)
            return
        group = self._fleet.levels[level].group[nodes]
        if len(nodes) == len(np.unique(group)):
            # Groups of one node each: choosing among them is choosing nodes.
            self._onto(nodes)
            return
        members = {int(each): nodes[group == each] for each in np.unique(group)}
        while self.left and members:
            best = max(members, key=lambda each: self._merit(members[each], each))
            self.into_groups(members.pop(best), level - 1)

    def _merit(self, nodes: IntArray, group: int) -> tuple[float, ...]:
        """Order of groups: near the job, taking the rest on fewest nodes, tightest."""
        needed = self._needed()
        near = float(self._nearness(nodes).max(initial=0.0))
        rooms = np.sort(self._roominess(nodes, needed))[::-1]
        covered = np.cumsum(rooms)
        nodes_needed = int(np.searchsorted(covered, 1.0 - _ROUNDING)) + 1
        total = float(covered[-1]) if len(covered) else 0.0
        if nodes_needed > len(rooms):
            return (near, 0.0, total, -group)
        return (near, 1.0, -nodes_needed, -total, -group)

    def _onto(self, nodes: IntArray) -> None:
        """Fill nodes one by one: the tightest one that takes all that is left, else the roomiest."""
        nodes = nodes[self._ledger.slots[nodes] > 0]
        while self.left and len(nodes):
            needed = self._needed()
            fits = self._takes_all(nodes, needed)
            rooms = self._roominess(nodes, needed)
            near = self._nearness(nodes)
            whole = bool(fits.any())
            rank = self._rank[nodes]
            order = (nodes, rooms, -near, rank, ~fits) if whole else (nodes, -rooms, -near, rank)
            at = int(np.lexsort(order)[0])
            if not whole and rooms[at] <= 0.0 and not near.any():
                return
            self._fill(int(nodes[at]), whole=whole)
            nodes = np.delete(nodes, at)

    def _fill(self, node: int, *, whole: bool) -> None:
        rest = np.array(self._rest)
        if self._job.permitted is not None:
            rest[~self._job.permitted[:, node]] = 0
        if self._job.per_node is not None:
            rest = np.minimum(rest, np.maximum(self._job.per_node - self._on_node(node), 0))
        room = self._ledger.free[node]
        untouched = bool((room >= self._fleet.capacity[node]).all())
        if not whole:
            room = room - self._kept[node]
        piece = Piece(rest.tolist(), self._demand, self._heap_mb, self._share, self._job.rules)
        slots = int(self._ledger.slots[node])
        found = fill_node(piece, self._groups, room.tolist(), slots, greedy=self._greedy)
        if not found and untouched and not whole:
            # A single executor may need more than the share of an empty node.
            room = self._ledger.free[node]
            found = fill_node(piece, self._groups, room.tolist(), slots, greedy=self._greedy)
        for counts in found:
            count = np.zeros(self._job.n_components, dtype=np.int64)
            count[list(counts)] = list(counts.values())
            self._rest -= count
            self._ledger.take(node, count @ self._job.demand, 1)
            self.workers.append(Worker(node, count))
        self._seen[node] |= bool(found)

    def _on_node(self, node: int) -> IntArray:
        """(n_components,) executors of the job that run on a node or have been placed there."""
        here = [worker.count for worker in (*self._job.running, *self.workers) if worker.node == node]
        return np.sum([np.zeros_like(self._rest), *here], axis=0, dtype=np.int64)

    def _undo(self, first: int) -> None:
        for worker in self.workers[first:]:
            self._rest += worker.count
            self._ledger.take(worker.node, -(worker.count @ self._job.demand), -1)
        del self.workers[first:]

    def _sizes(self) -> FloatArray:
        """(n_components, 2 + n_levels) workers, nodes and groups that what is left of components fills."""
        job, fleet = self._job, self._fleet
        workers = job.count * job.worker_share
        typical = np.median(fleet.capacity, axis=0) if fleet.n_nodes else np.zeros(job.demand.shape[1])
        shares = np.divide(job.demand, typical, out=np.zeros_like(job.demand), where=typical > 0)
        nodes = job.count * shares.max(axis=1, initial=0.0)
        per_group = [fleet.n_nodes / max(int(level.group.max(initial=0)) + 1, 1) for level in fleet.levels]
        return np.stack([workers, nodes, *(nodes / max(each, 1.0) for each in per_group)], axis=1)

    def _needed(self) -> FloatArray:
        """(n_resources + 1,) what is left to place needs, workers last."""
        workers = max(float(self._rest @ self._job.worker_share), float(self._rest.any()))
        return np.append(self._rest @ self._job.demand, workers)

    def _takes_all(self, nodes: IntArray, needed: FloatArray) -> BoolArray:
        enough = self._ledger.free[nodes] >= needed[:-1] * (1.0 - _ROUNDING)
        return np.asarray(enough.all(axis=1) & (self._ledger.slots[nodes] >= np.ceil(needed[-1] - _ROUNDING)))

    def _roominess(self, nodes: IntArray, needed: FloatArray) -> FloatArray:
        """(n_nodes,) part of what is left that each node takes, by its scarcest resource."""
        free = self._ledger.free[nodes] - self._kept[nodes]
        return np.minimum(_rooms(free, needed), self._ledger.slots[nodes] / needed[-1])

    def _nearness(self, nodes: IntArray) -> FloatArray:
        """(n_nodes,) how many levels each node shares with executors of the job."""
        near = np.zeros(len(nodes))
        if self._seen.any():
            seen = np.flatnonzero(self._seen)
            for level in self._fleet.levels:
                near += np.isin(level.group[nodes], level.group[seen])
        return near


def _rooms(free: FloatArray, needed: FloatArray) -> FloatArray:
    """(n_nodes,) the least share of a needed resource that each node has."""
    wanted: Sequence[int] = np.flatnonzero(needed[:-1] > 0).tolist()
    if not wanted:
        return np.ones(len(free))
    return np.asarray(np.maximum((free[:, wanted] / needed[wanted]).min(axis=1), 0.0), dtype=np.float64)
