"""One job is placed: sites, racks and hosts are chosen from the outside inwards, and filled one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.candidates import (
    ROUNDING,
    Candidates,
    best_of,
    least_for_all,
    nodes_for_all,
    rooms_of,
)
from scheduler.packing.filling import Filler
from scheduler.packing.grouping import group_components
from scheduler.packing.job import Worker

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job
    from scheduler.packing.shared import Shared

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
        self._n_left = int(job.count.sum())
        self._groups = group_components(job.weight_between, self._sizes())
        self._kept = 1.0 - manner.share
        self._greedy = False
        # What one executor of each component needs, and last the part of a worker that it takes at least.
        self._needs = np.column_stack([job.demand, job.worker_share])
        self._filler = Filler(self._needs.tolist(), job.heap_mb.tolist(), job.rules, job.shared)
        self._seen = {worker.node for worker in job.running}

    def turn_to(self, components: BoolArray) -> None:
        """Place executors of some components, and leave the others for later."""
        everyone = self._rest + self._later
        self._rest, self._later = np.where(components, everyone, 0), np.where(components, 0, everyone)
        self._n_left = int(self._rest.sum())

    @property
    def left(self) -> bool:
        """Whether executors have no node yet."""
        return self._n_left > 0

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
            merit = -rooms_of(self._ledger.free[nodes], needed)
            at = best_of(merit, near, None if self._job.rank is None else self._job.rank[nodes])
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
        takes_all = candidates[total[candidates] >= 1.0 - ROUNDING]
        if not len(takes_all):
            return int(candidates[np.argmax(total[candidates])])
        # Where the mean node is roomy few are enough; only the most likely groups are looked at closely.
        mean = total[takes_all] / np.bincount(group, minlength=n_groups)[takes_all]
        likely = takes_all[np.argsort(-mean, kind="stable")[:_LIKELY_GROUPS]]
        return int(min(likely, key=lambda each: (nodes_for_all(rooms[group == each]), total[each], each)))

    def _onto(self, nodes: IntArray) -> None:
        """Fill nodes one by one: the tightest one that takes all that is left, else the roomiest."""
        rank = self._job.rank
        candidates = Candidates(
            self._ledger.free[nodes],
            self._kept * self._fleet.capacity[nodes],
            self._ledger.slots[nodes],
            near=self._nearness(nodes),
            groups=[level.group[nodes] for level in self._fleet.levels],
            rank=None if rank is None else rank[nodes],
        )
        for _ in range(len(nodes)):
            if not self.left:
                return
            needed = self._needed()
            at, whole = candidates.best(needed)
            if not (whole or self._seen or candidates.have_room(needed)):
                return
            candidates.close(at, taken=self._fill(int(nodes[at]), whole=whole))

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
        rest = self._rest
        if self._job.permitted is not None:
            rest = np.where(self._job.permitted[:, node], rest, 0)
        if self._job.per_node is not None:
            rest = np.minimum(rest, np.maximum(self._job.per_node - self._on_node(node), 0))
        free, capacity = self._ledger.free[node], self._fleet.capacity[node]
        room = free if whole else free - self._kept * capacity
        slots = int(self._ledger.slots[node])
        fill = partial(self._filler.fill, rest.tolist(), self._groups, slots=slots, greedy=self._greedy)
        if self._job.shared is not None:
            fill = partial(fill, here=self._job.shared.used(self._on_node(node)))
        found = fill(room=room.tolist())
        if not found and not whole and (free >= capacity).all():
            # A single executor may need more than the share of an empty node.
            found = fill(room=free.tolist())
        if found:
            self._take(node, np.array(found, dtype=np.int64))
            self._seen.add(node)
        return bool(found)

    def _take(self, node: int, counts: IntArray) -> None:
        """Take new workers of a node, whose executors are (n_workers, n_components) counts."""
        total = counts.sum(axis=0)
        self._rest -= total
        self._n_left -= int(total.sum())
        if self._job.shared is None:
            taken = counts @ self._job.demand
            self._taken.extend(taken)
            self.workers.extend(Worker(node, count) for count in counts)
            self._ledger.take(node, taken.sum(axis=0), len(counts))
            return
        for count in counts:
            one = self._taken_by(node, count, self._job.shared)
            self._taken.append(one)
            self.workers.append(Worker(node, count))
            self._ledger.take(node, one, 1)

    def _taken_by(self, node: int, count: IntArray, shared: Shared) -> FloatArray:
        """(n_resources,) what another worker whose executors share memory takes of a node."""
        taken = count @ self._job.demand
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
            self._n_left += int(worker.count.sum())
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
        needed: FloatArray = self._rest @ self._needs
        needed[-1] = max(needed[-1], float(self.left))
        if self._job.shared is not None:
            needed[self._job.shared.resource] += self._job.shared.needed(self._rest)
        return needed

    def _takes_all(self, nodes: IntArray, needed: FloatArray) -> BoolArray:
        least = least_for_all(needed)
        enough = (self._ledger.free[nodes] >= least[:-1]).all(axis=1)
        return np.asarray(enough & (self._ledger.slots[nodes] >= least[-1]))

    def _roominess(self, nodes: IntArray, needed: FloatArray) -> FloatArray:
        """(n_nodes,) part of what is left that each node takes, by its scarcest resource."""
        free = self._ledger.free[nodes] - self._kept * self._fleet.capacity[nodes]
        workers = self._ledger.slots[nodes] / needed[-1]
        return np.asarray(np.minimum(rooms_of(free, needed), workers), dtype=np.float64)
