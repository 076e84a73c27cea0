"""What is to be packed of one topology: executors of one component are alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.shared import Shared


NO_LIMIT = 2**31
"""More executors than any worker holds."""


@dataclass(frozen=True, eq=False)
class Worker:
    """A worker process on a node.

    Attributes:
        node: The node.
        count: (n_components,) its executors by component.
        joins: Position among the running workers of the job of the one that these executors join; None for
            a worker of its own.
    """

    node: int
    count: IntArray
    joins: int | None = None


@dataclass(frozen=True)
class WorkerRules:
    """What one worker may hold.

    Attributes:
        heap_mb: Heap of a worker, MB; an executor that needs more alone gets a worker of its own.
        executors: Most executors of a worker.
        one_component: Whether a worker holds executors of one component only.
        apart: Pairs of components, either way round, that no worker holds together.
    """

    heap_mb: float = math.inf
    executors: int = NO_LIMIT
    one_component: bool = False
    apart: frozenset[tuple[int, int]] = frozenset()

    def allow(self, component: int, others: Iterable[int]) -> bool:
        """Whether an executor of a component may join those of others in a worker, as far as kinds matter."""
        if self.one_component:
            return all(other == component for other in others)
        return not self.apart or all((component, other) not in self.apart for other in others)

    def at_most(self, executors: int) -> WorkerRules:
        """Return the rules with fewer executors in a worker."""
        return replace(self, executors=min(self.executors, executors))

    def shares(self, heap_mb: FloatArray) -> FloatArray:
        """(n_components,) part of a worker that one executor takes at least.

        Args:
            heap_mb: (n_components,) heap of one executor, MB.
        """
        by_heap = np.full(len(heap_mb), math.inf)
        np.divide(self.heap_mb, heap_mb, out=by_heap, where=heap_mb > 0)
        alike = np.minimum(np.floor(by_heap + 1e-9), self.executors)
        return np.asarray(1.0 / np.maximum(alike, 1.0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Job:
    """Executors to place, by component.

    Attributes:
        count: (n_components,) executors to place.
        demand: (n_components, n_resources) what one executor needs, finite and >= 0.
        heap_mb: (n_components,) heap of one executor, MB.
        edges: (n_edges, 2) pairs of different components that exchange tuples.
        weight: (n_edges,) how much each edge counts, >= 0.
        rules: What one worker may hold.
        loose: What one may hold if there is no room for workers by `rules`; None if these have to be kept.
        permitted: (n_components, n_nodes) where executors may go; None if they may go everywhere.
        running: Workers that stay as they are.
        restarting: Positions of those among them that restart in any case: others may join them.
        per_node: (n_components,) most executors of a component on one node; None without such limits.
        rank: (n_nodes,) nodes of a lower rank are filled first; None if all are alike.
        shared: Memory that components share, beside what executors need; None if they share none.
        asked: New workers that are wanted; 0 if their number does not matter.
        soft_heap: Whether workers may need more heap than they have where the job fits no other way.
    """

    count: IntArray
    demand: FloatArray
    heap_mb: FloatArray
    edges: IntArray
    weight: FloatArray
    rules: WorkerRules = WorkerRules()
    loose: WorkerRules | None = None
    permitted: BoolArray | None = None
    running: tuple[Worker, ...] = ()
    restarting: frozenset[int] = frozenset()
    per_node: IntArray | None = None
    rank: IntArray | None = None
    shared: Shared | None = None
    asked: int = 0
    soft_heap: bool = False

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.count)

    @cached_property
    def whole(self) -> IntArray:
        """(n_components,) executors that there are in all, placed or not."""
        running = [worker.count for worker in self.running]
        return np.asarray(np.sum([self.count, *running], axis=0), dtype=np.int64)

    @cached_property
    def affinity(self) -> FloatArray:
        """(n_components, n_components) what it is worth that two executors are together, symmetric.

        Each edge spreads its weight evenly over its pairs of executors.
        """
        table = np.zeros((self.n_components, self.n_components))
        if len(self.edges):
            one, other = self.edges.T
            pairs = np.maximum(self.whole[one] * self.whole[other], 1)
            np.add.at(table, (one, other), self.weight / pairs)
            np.add.at(table, (other, one), self.weight / pairs)
        np.fill_diagonal(table, 0.0)
        return table

    @cached_property
    def weight_between(self) -> FloatArray:
        """(n_components, n_components) weight of the edges between two components, symmetric."""
        return self.affinity * np.outer(self.whole, self.whole)

    @cached_property
    def worker_share(self) -> FloatArray:
        """(n_components,) part of a worker that one executor takes at least."""
        share = self.rules.shares(self.heap_mb)
        return np.maximum(share, self.asked / max(int(self.count.sum()), 1))

    @property
    def loosest(self) -> Job:
        """The job without what is only a wish."""
        return self if self.loose is None else replace(self, rules=self.loose, asked=0)

    @cached_property
    def open_nodes(self) -> BoolArray:
        """(n_nodes,) nodes where any of the executors may go, of a job with `permitted`."""
        permitted = np.zeros((1, 0), dtype=np.bool_) if self.permitted is None else self.permitted
        return np.asarray(permitted[self.count > 0].any(axis=0), dtype=np.bool_)

    def stretched(self, part: float) -> Job:
        """Return the job with workers that have more heap.

        Args:
            part: How much more, in parts of the heap.
        """

        def more(rules: WorkerRules) -> WorkerRules:
            return replace(rules, heap_mb=rules.heap_mb * (1.0 + part))

        return replace(self, rules=more(self.rules), loose=None if self.loose is None else more(self.loose))
