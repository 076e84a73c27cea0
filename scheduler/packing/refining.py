"""Executors of a job move and change places between its new workers as long as they come closer together.

The gain of a step is exact and read from one table, as in Kernighan and Lin, An Efficient Heuristic Procedure
for Partitioning Graphs (1970): what each worker is worth to one executor of each component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.closeness import Closeness
from scheduler.packing.job import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job

_LEAST_GAIN = 1e-9
_ROUNDING = 1e-9
# Exchanges tried in a step: the limits of workers and nodes allow one of the best ones in most cases.
_TRIED = 32


@dataclass(frozen=True)
class Effort:
    """How much work refining a job may be.

    Attributes:
        cells: Most components times workers of a job that is refined at all.
        steps: Most steps.
    """

    cells: int = 1500
    steps: int = 400


def refine(
    fleet: Fleet,
    ledger: Ledger,
    job: Job,
    workers: Sequence[Worker],
    *,
    expired: Callable[[], bool] = lambda: False,
    effort: Effort = Effort(),
) -> list[Worker]:
    """Return workers on the same nodes whose executors are closer together, or as close.

    Args:
        fleet: The nodes.
        ledger: What is left of them; kept up to date.
        job: The job.
        workers: Its new workers.
        expired: Whether the time is over; asked before each step.
        effort: How much work it may be.
    """
    cells = job.n_components * len(workers)
    # Limits between executors are kept by leaving the workers as they are.
    limited = bool(job.rules.apart) or job.per_node is not None or job.shared is not None
    if len(workers) < 2 or not len(job.edges) or limited or cells > effort.cells:
        return list(workers)
    state = _State(fleet, ledger, job, workers)
    for _ in range(effort.steps):
        # Moves would leave fewer workers than are wanted, or uneven ones.
        if expired() or not ((not job.asked and state.move()) or state.exchange()):
            break
    return state.workers()


class _State:
    """Executors by component and worker, with what is left of workers and nodes."""

    def __init__(self, fleet: Fleet, ledger: Ledger, job: Job, workers: Sequence[Worker]) -> None:
        everyone = [*workers, *job.running]
        self._ledger = ledger
        self._job = job
        self._new = len(workers)
        self._node = np.array([worker.node for worker in everyone])
        self._count = np.stack([worker.count for worker in everyone], axis=1)
        self._between = Closeness(fleet, self._node).between
        own = np.diag(self._between)[: self._new]
        # What two executors lose of each other where they change places.
        self._apart = own[:, None] + own[None, :] - 2 * self._between[: self._new, : self._new]
        self._worth = (job.affinity @ self._count @ self._between)[:, : self._new]
        self._permitted = (
            np.ones((job.n_components, self._new), dtype=np.bool_)
            if job.permitted is None
            else job.permitted[:, self._node[: self._new]]
        )

    def workers(self) -> list[Worker]:
        """Return the new workers that hold executors."""
        for worker in range(self._new):
            if not self._count[:, worker].any():
                self._ledger.slots[self._node[worker]] += 1
        return [
            Worker(int(self._node[worker]), self._count[:, worker])
            for worker in range(self._new)
            if self._count[:, worker].any()
        ]

    def move(self) -> bool:
        """Move the executor that gains most by going to another worker with room."""
        held = self._count[:, : self._new] > 0
        best = self._best_move(held)
        if best is None:
            return False
        component, source, target = best
        self._carry(component, source, target)
        return True

    def _best_move(self, held: BoolArray) -> tuple[int, int, int] | None:
        room = self._room()
        open_worth = np.where(room, self._worth, -np.inf)
        target = np.argmax(open_worth, axis=1)
        best = open_worth[np.arange(len(target)), target]
        gain = np.where(held, best[:, None] - self._worth, -np.inf)
        # From the worker where it is worth least.
        source = np.argmax(gain, axis=1)
        gains = gain[np.arange(len(source)), source]
        for component in np.argsort(-gains, kind="stable").tolist():
            if not gains[component] > _LEAST_GAIN:
                return None
            if self._node_takes(component, int(source[component]), int(target[component])):
                return component, int(source[component]), int(target[component])
        return None

    def exchange(self) -> bool:
        """Exchange the two executors of different workers that gain most by it."""
        if self._job.rules.one_component:
            return False
        components, workers = np.nonzero(self._count[:, : self._new])
        there = self._worth[components]
        here = there[np.arange(len(workers)), workers]
        # What i gains where j is, and j where i is, less what two of a pair were worth to each other.
        there = there.take(workers, axis=1)
        there -= here[:, None]
        gain = there + there.T
        pair = self._job.affinity[components].take(components, axis=1)
        pair *= self._apart[workers].take(workers, axis=1)
        gain -= pair
        i, j = divmod(np.flatnonzero(gain > _LEAST_GAIN), len(workers))
        sound = (i < j) & (workers[i] != workers[j]) & (components[i] != components[j])
        i, j = i[sound], j[sound]
        best = _largest(gain[i, j], _TRIED)
        one, other, at, to = components[i[best]], components[j[best]], workers[i[best]], workers[j[best]]
        possible = np.flatnonzero(self._exchangeable(one, at, other, to))
        if not len(possible):
            return False
        first = possible[0]
        self._carry(int(one[first]), int(at[first]), int(to[first]))
        self._carry(int(other[first]), int(to[first]), int(at[first]))
        return True

    def _carry(self, component: int, source: int, target: int) -> None:
        self._count[component, source] -= 1
        self._count[component, target] += 1
        change = self._between[target, : self._new] - self._between[source, : self._new]
        self._worth += np.outer(self._job.affinity[:, component], change)
        demand = self._job.demand[component]
        self._ledger.free[self._node[source]] += demand
        self._ledger.free[self._node[target]] -= demand

    def _room(self) -> BoolArray:
        """(n_components, n_workers) which workers take another executor of a component."""
        rules, count = self._job.rules, self._count[:, : self._new]
        heap = self._job.heap_mb @ count
        room = heap[None, :] + self._job.heap_mb[:, None] <= rules.heap_mb * (1 + _ROUNDING)
        room &= (count.sum(axis=0) < rules.executors)[None, :]
        if rules.one_component:
            room &= count > 0
        room &= (count.sum(axis=0) > 0)[None, :]
        return np.asarray(room & self._permitted)

    def _node_takes(self, component: int, source: int, target: int) -> bool:
        node = self._node[target]
        if node == self._node[source]:
            return True
        demand = self._job.demand[component]
        return bool(((demand <= 0) | (demand <= self._ledger.free[node] + _ROUNDING)).all())

    def _exchangeable(self, one: IntArray, at: IntArray, other: IntArray, to: IntArray) -> BoolArray:
        """(n_pairs,) whether an executor of one component may change places with one of another.

        Args:
            one: (n_pairs,) component of the first.
            at: (n_pairs,) its worker.
            other: (n_pairs,) component of the second.
            to: (n_pairs,) its worker.
        """
        job, limit = self._job, self._job.rules.heap_mb * (1 + _ROUNDING)
        heap = job.heap_mb @ self._count
        more = job.heap_mb[other] - job.heap_mb[one]
        within = (heap[at] + more <= np.maximum(limit, heap[at])) & (
            heap[to] - more <= np.maximum(limit, heap[to])
        )
        change = job.demand[other] - job.demand[one]
        free_at, free_to = self._ledger.free[self._node[at]], self._ledger.free[self._node[to]]
        fits = ((change <= 0) | (change <= free_at + _ROUNDING)).all(axis=1)
        fits &= ((change >= 0) | (-change <= free_to + _ROUNDING)).all(axis=1)
        fits |= self._node[at] == self._node[to]
        return np.asarray(within & fits & self._permitted[one, to] & self._permitted[other, at])


def _largest(values: FloatArray, most: int) -> IntArray:
    """Positions of the largest values, the largest first; of equals the first."""
    found = np.arange(len(values))
    if len(values) > most:
        found = np.flatnonzero(values >= np.partition(values, len(values) - most)[len(values) - most])
    return found[np.argsort(-values[found], kind="stable")][:most]
