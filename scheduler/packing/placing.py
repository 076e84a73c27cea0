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
# Nodes tried for a whole job whose workers cannot be filled to the brim; groups looked at closely.
_TRIED_NODES = 8
_LIKELY_GROUPS = 8


@dataclass(frozen=True)
class Manner:
    """How densely nodes are filled.

    Attributes:
        share: Part of a node's capacity up to which a job that needs several nodes fills it at first. Below 1
            it leaves something of every resource to others, instead of all of one and nothing of another.
    """

    share: float = 1.0


def place_job(fleet: Fleet, ledger: Ledger, job: Job, manner: Manner) -> list[Worker] | None:
    """Place all executors of a job.

    Args:
        fleet: The nodes.
        ledger: What is left of them; what the job takes is taken from it.
        job: The job.
        manner: How densely nodes are filled.

    Returns:
        New workers; None if not all executors found room, and then nothing is taken.
    """
    placing = _Placing(fleet, ledger, job, manner)
    if not placing.into_one_node():
        # What may go to few places goes there first, so that the others come near it.
        for part in _by_freedom(job):
            placing.turn_to(part)
            placing.into_groups()
        if placing.left:
            placing.to_the_brim()
            placing.into_groups()
    if placing.left:
        placing.give_back()
        return None
    return placing.workers


def _by_freedom(job: Job) -> list[BoolArray]:
    """Return (n_components,) masks of what to place in turn: first what may go to fewer nodes than others."""
    everything = np.ones(job.n_components, dtype=np.bool_)
    if job.permitted is None:
        return [everything]
    nodes = np.where(job.count > 0, job.permitted.sum(axis=1), job.permitted.shape[1])
    bound = nodes < nodes[job.count > 0].max(initial=0)
    return [bound, everything] if bound.any() else [everything]


class _Placing:
    """A job that is being placed."""

    def __init__(self, fleet: Fleet, ledger: Ledger, job: Job, manner: Manner) -> None:
        self.workers: list[Worker] = []
        self._taken: list[FloatArray] = []
        self._fleet = fleet
        self._ledger = ledger
        self._job = job
        self._rest = np.array(job.count)
        self._later = np.zeros_like(self._rest)
        self._groups = group_components(job.weight_between, self._sizes())
        self._kept = 1.0 - manner.share
        self._greedy = False
        self._demand = job.demand.tolist()
        self._heap_mb = job.heap_mb.tolist()
        self._share = job.worker_share.tolist()
        self._seen = {worker.node for worker in job.running}

    def turn_to(self, components: BoolArray) -> None:
        """Place executors of some components, and leave the others for later."""
        everyone = self._rest + self._later
        self._rest, self._later = np.where(components, everyone, 0), np.where(components, 0, everyone)

    @property
    def left(self) -> bool:
        """Whether executors have no node yet."""
        return bool(self._rest.any())

    def to_the_brim(self) -> None:
        """Leave nothing of a node to others any more, and take executors in whatever order they fit."""
        self._kept = 0.0
        self._greedy = True

    def into_one_node(self) -> bool:
        """Place the whole job on the node that it fills best, the nearest to what runs, if it fits on one."""
        nodes = np.flatnonzero(self._ledger.slots > 0)
        if self._job.permitted is not None:
            nodes = nodes[self._job.permitted[self._rest > 0][:, nodes].all(axis=0)]
        needed = self._needed()
        nodes = nodes[self._takes_all(nodes, needed)]
        near = self._nearness(nodes)
        for _ in range(_TRIED_NODES):
            if not len(nodes):
                break
            at = self._best(nodes, -_rooms(self._ledger.free[nodes], needed), near)
            before = len(self.workers)
            self._fill(int(nodes[at]), whole=True)
            if not self.left:
                return True
            # Workers could not be filled to the brim: it is given back, and the next node tried.
            self.give_back(before)
            nodes, near = np.delete(nodes, at), np.delete(near, at)
        return False

    def into_groups(self) -> None:
        """Place on all nodes where executors may go, by groups from the outermost level on."""
        nodes = np.flatnonzero(self._ledger.slots > 0)
        if self._job.permitted is not None and self.left:
            nodes = nodes[self._job.permitted[self._rest > 0][:, nodes].any(axis=0)]
        self._into_groups(nodes, len(self._fleet.levels) - 1)

    def _into_groups(self, nodes: IntArray, level: int) -> None:
        """Place on the nodes, by groups of a level from the best one on.

        Args:
            nodes: The nodes.
            level: The level; below the smallest one nodes are filled one by one.
        """
        if level < 0 or self._fleet.levels[level].single:
            self._onto(nodes)
            return
        here = self._fleet.levels[level]
        group = here.group[nodes]
        left = np.bincount(group, minlength=here.n_groups) > 0
        while self.left and left.any():
            best = self._best_group(nodes, group, left, level)
            left[best] = False
            self._into_groups(nodes[group == best], level - 1)

    def _best_group(self, nodes: IntArray, group: IntArray, left: BoolArray, level: int) -> int:
        """Choose a group: near the job, else that takes the rest on fewest nodes, else the roomiest."""
        n_groups = len(left)
        needed = self._needed()
        rooms = self._roominess(nodes, needed)
        total = np.bincount(group, weights=rooms, minlength=n_groups)
        near = np.zeros(n_groups)
        for inner in self._fleet.levels[: level + 1] if self._seen else ():
            seen = inner.group[list(self._seen)]
            if inner.far is not None and inner is self._fleet.levels[level]:
                near -= inner.far[:, seen].mean(axis=1)
            touched = np.isin(inner.group[nodes], seen)
            near += np.bincount(group[touched], minlength=n_groups) > 0
        candidates = np.flatnonzero(left & (near == near[left].max()))
        takes_all = candidates[total[candidates] >= 1.0 - _ROUNDING]
        if not len(takes_all):
            return int(candidates[np.argmax(total[candidates])])
        # Where the mean node is roomy few are enough; only the most likely groups are looked at closely.
        mean = total[takes_all] / np.bincount(group, minlength=n_groups)[takes_all]
        likely = takes_all[np.argsort(-mean, kind="stable")[:_LIKELY_GROUPS]]
        return int(min(likely, key=lambda each: (_count(rooms[group == each]), total[each], each)))

    def _onto(self, nodes: IntArray) -> None:
        """Fill nodes one by one: the tightest one that takes all that is left, else the roomiest."""
        near = self._nearness(nodes)
        while self.left and len(nodes):
            needed = self._needed()
            fits = self._takes_all(nodes, needed)
            rooms = self._roominess(nodes, needed)
            whole = bool(fits.any())
            at = self._best(nodes, np.where(fits, -rooms, -np.inf) if whole else rooms, near)
            if not whole and not rooms.any() and not self._seen:
                return
            node = int(nodes[at])
            taken = self._fill(node, whole=whole)
            nodes, near = np.delete(nodes, at), np.delete(near, at)
            for level in self._fleet.levels if taken else ():
                near += level.group[nodes] == level.group[node]

    def _best(self, nodes: IntArray, merit: FloatArray, near: FloatArray) -> int:
        """Position of the node of least rank, nearest to the job, of most merit; of equals the first."""
        open_to = merit > -np.inf
        if self._job.rank is not None:
            rank = self._job.rank[nodes]
            open_to &= rank == rank[open_to].min()
        open_to &= near == near[open_to].max()
        return int(np.argmax(np.where(open_to, merit, -np.inf)))

    def _nearness(self, nodes: IntArray) -> FloatArray:
        """(n_nodes,) levels at which each node shares a group with executors of the job, less distance."""
        near = np.zeros(len(nodes))
        for level in self._fleet.levels if self._seen else ():
            seen = level.group[list(self._seen)]
            near += np.isin(level.group[nodes], seen)
            if level.far is not None:
                near -= level.far[:, seen].mean(axis=1)[level.group[nodes]]
        return near

    def _fill(self, node: int, *, whole: bool) -> bool:
        """Put as much as fits on a node; return whether that is anything."""
        rest = np.array(self._rest)
        if self._job.permitted is not None:
            rest[~self._job.permitted[:, node]] = 0
        if self._job.per_node is not None:
            rest = np.minimum(rest, np.maximum(self._job.per_node - self._on_node(node), 0))
        free, capacity = self._ledger.free[node], self._fleet.capacity[node]
        untouched = bool((free >= capacity).all())
        room = free if whole else free - self._kept * capacity
        piece = Piece(
            rest.tolist(),
            self._demand,
            self._heap_mb,
            self._share,
            self._job.rules,
            self._job.shared,
            frozenset() if self._job.shared is None else self._job.shared.used(self._on_node(node)),
        )
        slots = int(self._ledger.slots[node])
        found = fill_node(piece, self._groups, room.tolist(), slots, greedy=self._greedy)
        if not found and untouched and not whole:
            # A single executor may need more than the share of an empty node.
            found = fill_node(piece, self._groups, free.tolist(), slots, greedy=self._greedy)
        for counts in found:
            count = np.zeros(self._job.n_components, dtype=np.int64)
            count[list(counts)] = list(counts.values())
            self._rest -= count
            taken = self._taken_by(node, count)
            self._ledger.take(node, taken, 1)
            self._taken.append(taken)
            self.workers.append(Worker(node, count))
        if found:
            self._seen.add(node)
        return bool(found)

    def _taken_by(self, node: int, count: IntArray) -> FloatArray:
        """(n_resources,) what another worker takes of a node."""
        taken = count @ self._job.demand
        shared = self._job.shared
        if shared is not None:
            before = self._on_node(node)
            more = shared.on_node(before + count) - shared.on_node(before)
            taken[shared.resource] += shared.in_worker(count) + more
        return np.asarray(taken, dtype=np.float64)

    def _on_node(self, node: int) -> IntArray:
        """(n_components,) executors of the job that run on a node or have been placed there."""
        here = [worker.count for worker in (*self._job.running, *self.workers) if worker.node == node]
        return np.asarray(np.sum([np.zeros_like(self._rest), *here], axis=0), dtype=np.int64)

    def give_back(self, first: int = 0) -> None:
        """Take workers from the first one of some on back."""
        for worker, taken in zip(self.workers[first:], self._taken[first:], strict=True):
            self._rest += worker.count
            self._ledger.take(worker.node, -taken, -1)
        del self.workers[first:], self._taken[first:]
        self._seen = {worker.node for worker in (*self._job.running, *self.workers)}

    def _sizes(self) -> FloatArray:
        """(n_components, 2 + n_levels) workers, nodes and groups that what is left of components fills."""
        job, fleet = self._job, self._fleet
        workers = job.count * job.worker_share
        shares = np.divide(job.demand, fleet.usual, out=np.zeros_like(job.demand), where=fleet.usual > 0)
        nodes = job.count * shares.max(axis=1, initial=0.0)
        per_group = [fleet.n_nodes / max(level.n_groups, 1) for level in fleet.levels]
        return np.stack([workers, nodes, *(nodes / max(each, 1.0) for each in per_group)], axis=1)

    def _needed(self) -> FloatArray:
        """(n_resources + 1,) what is left to place needs, workers last."""
        workers = max(float(self._rest @ self._job.worker_share), float(self._rest.any()))
        needed = np.append(self._rest @ self._job.demand, workers)
        if self._job.shared is not None:
            needed[self._job.shared.resource] += self._job.shared.needed(self._rest)
        return needed

    def _takes_all(self, nodes: IntArray, needed: FloatArray) -> BoolArray:
        enough = self._ledger.free[nodes] >= needed[:-1] * (1.0 - _ROUNDING)
        return np.asarray(enough.all(axis=1) & (self._ledger.slots[nodes] >= np.ceil(needed[-1] - _ROUNDING)))

    def _roominess(self, nodes: IntArray, needed: FloatArray) -> FloatArray:
        """(n_nodes,) part of what is left that each node takes, by its scarcest resource."""
        free = self._ledger.free[nodes] - self._kept * self._fleet.capacity[nodes]
        workers = self._ledger.slots[nodes] / needed[-1]
        return np.asarray(np.minimum(_rooms(free, needed), workers), dtype=np.float64)


def _count(rooms: FloatArray) -> int:
    """Number of nodes, the roomiest first, that take everything."""
    return int(np.searchsorted(np.cumsum(np.sort(rooms)[::-1]), 1.0 - _ROUNDING)) + 1


def _rooms(free: FloatArray, needed: FloatArray) -> FloatArray:
    """(n_nodes,) the least share of a needed resource that each node has."""
    wanted: Sequence[int] = np.flatnonzero(needed[:-1] > 0).tolist()
    if not wanted:
        return np.ones(len(free))
    return np.asarray(np.maximum((free[:, wanted] / needed[wanted]).min(axis=1), 0.0), dtype=np.float64)
