"""What of a job has a place so far, and what is left to place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.even import batches
from scheduler.packing.filling import Filler
from scheduler.packing.job import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.even import Batch
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job
    from scheduler.packing.shared import Shared


class Progress:
    """A job on its way to its nodes; what it takes of them is taken from the ledger.

    Args:
        fleet: The nodes.
        ledger: What is left of them.
        job: The job.

    Attributes:
        workers: Where executors have been placed, in the order of that.
        rest: (n_components,) executors without a place whose turn it is.
        seen: Nodes that hold executors of the job.
    """

    def __init__(self, fleet: Fleet, ledger: Ledger, job: Job) -> None:
        self.workers: list[Worker] = []
        self.rest = np.array(job.count)
        self.seen = {worker.node for worker in job.running}
        self._fleet = fleet
        self._ledger = ledger
        self._job = job
        self._later = np.zeros_like(self.rest)
        self._n_left = int(job.count.sum())
        self._taken: list[FloatArray] = []
        # What one executor of each component needs, and last the part of a worker that it takes at least.
        self._needs = np.column_stack([job.demand, job.worker_share])
        self._batches = batches(job)
        self._fillers: dict[int, Filler] = {}
        self._on_node: dict[int, IntArray] = {}
        for worker in job.running:
            self._count(worker.node, worker.count)

    @property
    def left(self) -> bool:
        """Whether executors have no node yet."""
        return self._n_left > 0

    def turn_to(self, components: BoolArray) -> None:
        """Place executors of some components, and leave the others for later."""
        everyone = self.rest + self._later
        self.rest, self._later = np.where(components, everyone, 0), np.where(components, 0, everyone)
        self._n_left = int(self.rest.sum())

    def needed(self) -> FloatArray:
        """(n_resources + 1,) what is left to place needs, workers last."""
        needed: FloatArray = self.rest @ self._needs
        needed[-1] = max(needed[-1], float(self.left))
        if self._job.shared is not None:
            needed[self._job.shared.resource] += self._job.shared.needed(self.rest)
        return needed

    def fill(
        self, node: int, groups: Sequence[Sequence[int]], *, whole: bool, kept: float, greedy: bool
    ) -> bool:
        """Put as much as fits on a node, in new workers; return whether that is anything.

        Args:
            node: The node.
            groups: Components that are mixed with each other.
            whole: Whether all that is left goes there, so that nothing is kept for others.
            kept: Part of the node's capacity that is left to others.
            greedy: Whether executors are taken in whatever order they fit.
        """
        before = len(self.workers)
        for batch in self._batches:
            if batch.left and self.left:
                self._fill(node, groups, batch, whole=whole, kept=kept, greedy=greedy)
        return len(self.workers) > before

    def _fill(
        self,
        node: int,
        groups: Sequence[Sequence[int]],
        batch: Batch,
        *,
        whole: bool,
        kept: float,
        greedy: bool,
    ) -> None:
        free, capacity = self._ledger.free[node], self._fleet.capacity[node]
        room = free if whole else free - kept * capacity
        slots = min(int(self._ledger.slots[node]), batch.left)
        filler = self._filler(batch.executors)
        fill = partial(filler.fill, self.allowed(node).tolist(), groups, slots=slots, greedy=greedy)
        if self._job.shared is not None:
            fill = partial(fill, here=self._job.shared.used(self.on_node(node)))
        found = fill(room=room.tolist())
        if not found and not whole and (free >= capacity).all():
            # A single executor may need more than the share of an empty node.
            found = fill(room=free.tolist())
        if found:
            for count in found:
                self._count_off(sum(count))
            self._take_all(node, np.array(found, dtype=np.int64))

    def allowed(self, node: int) -> IntArray:
        """(n_components,) executors whose turn it is, as far as pins and limits per node let them come."""
        rest = self.rest
        if self._job.permitted is not None:
            rest = np.where(self._job.permitted[:, node], rest, 0)
        if self._job.per_node is not None:
            rest = np.minimum(rest, np.maximum(self._job.per_node - self.on_node(node), 0))
        return np.asarray(rest, dtype=np.int64)

    def on_node(self, node: int) -> IntArray:
        """(n_components,) executors of the job that run on a node or have been placed there."""
        found = self._on_node.get(node)
        return np.zeros_like(self.rest) if found is None else found

    def add(self, worker: Worker) -> None:
        """Take what a worker needs, or what executors need that join one."""
        taken = self.amounts(worker)
        self._taken.append(taken)
        self.workers.append(worker)
        self._ledger.take(worker.node, taken, int(worker.joins is None))
        self._placed(worker.node, worker.count)

    def amounts(self, worker: Worker) -> FloatArray:
        """(n_resources,) what another worker takes of its node, or executors that join one."""
        taken = worker.count @ self._job.demand
        if self._job.shared is not None:
            taken[self._job.shared.resource] += self._shared_mb(worker, self._job.shared)
        return np.asarray(taken, dtype=np.float64)

    def give_back(self, first: int = 0) -> None:
        """Take workers from the first one of some on back."""
        for worker, taken in zip(self.workers[first:], self._taken[first:], strict=True):
            self.rest += worker.count
            self._n_left += int(worker.count.sum())
            self._ledger.take(worker.node, -taken, -int(worker.joins is None))
            self._count(worker.node, -worker.count)
        del self.workers[first:], self._taken[first:]
        self.seen = {worker.node for worker in (*self._job.running, *self.workers)}
        self._batches = batches(self._job)
        for worker in self.workers:
            self._count_off(int(worker.count.sum()))

    def _take_all(self, node: int, counts: IntArray) -> None:
        """Take new workers of a node, whose executors are (n_workers, n_components) counts."""
        if self._job.shared is not None:
            for count in counts:
                self.add(Worker(node, count))
            return
        taken = counts @ self._job.demand
        self._taken.extend(taken)
        self.workers.extend(Worker(node, count) for count in counts)
        self._ledger.take(node, taken.sum(axis=0), len(counts))
        self._placed(node, counts.sum(axis=0))

    def _count_off(self, executors: int) -> None:
        """Note a worker of some executors in its batch; one that is smaller than all sizes is in none."""
        for batch in self._batches:
            batch.left -= executors == batch.executors

    def _placed(self, node: int, count: IntArray) -> None:
        self.rest -= count
        self._n_left -= int(count.sum())
        self.seen.add(node)
        self._count(node, count)

    def _count(self, node: int, count: IntArray) -> None:
        """Remember what is on a node, where limits or shared memory ask for it."""
        if self._job.per_node is not None or self._job.shared is not None:
            self._on_node[node] = self.on_node(node) + count

    def _shared_mb(self, worker: Worker, shared: Shared) -> float:
        before = self.on_node(worker.node)
        there = np.zeros_like(before) if worker.joins is None else self._job.running[worker.joins].count
        in_worker = shared.in_worker(there + worker.count) - shared.in_worker(there)
        return float(in_worker + shared.on_node(before + worker.count) - shared.on_node(before))

    def _filler(self, executors: int) -> Filler:
        if executors not in self._fillers:
            rules = self._job.rules.at_most(executors)
            needs = np.column_stack([self._job.demand, rules.shares(self._job.heap_mb)])
            heap = self._job.heap_mb.tolist()
            self._fillers[executors] = Filler(needs.tolist(), heap, rules, self._job.shared)
        return self._fillers[executors]
