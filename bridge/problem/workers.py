"""How the executors of a topology may share workers, and how many workers it asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.node_limits import apart_of
from scheduler.packing.job import NO_LIMIT, WorkerRules

if TYPE_CHECKING:
    from bridge.wire.messages import Topology
    from bridge.wishes.storm_settings import StormSettings
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class WorkerNeeds:
    """What decides which executors of a topology share a worker.

    Attributes:
        component: (n_executors,) component of each executor.
        heap_mb: (n_components,) heap of one executor, MB.
        weight: (n_components, n_components) streams between two components, symmetric.
        rules: What a new worker may hold, whatever number of workers is asked for.
        asked: Workers that are asked for, at most one per executor; 1 if none are.
        per_worker: Executors per worker by which hosts are chosen; infinite where the number asked for does
            not matter.
        cautious: Whether room in workers is counted so that what fits by the count fits in any case.
    """

    component: IntArray
    heap_mb: FloatArray
    weight: FloatArray
    rules: WorkerRules
    asked: int
    per_worker: float
    cautious: bool = False

    @property
    def loose(self) -> WorkerNeeds:
        """The same where the number asked for does not matter."""
        return replace(self, per_worker=math.inf)

    @property
    def exact(self) -> WorkerNeeds:
        """The same where hosts are chosen that have slots for as many workers as are asked for."""
        return replace(self, per_worker=len(self.component) / self.asked)

    @property
    def firm(self) -> bool:
        """Whether rules hold that never give way, as heap does."""
        return self.rules.one_component or self.rules.executors < NO_LIMIT or bool(self.rules.apart)

    @cached_property
    def share(self) -> FloatArray:
        """(n_executors,) part of a worker that each executor takes at least; 0 where nothing limits it."""
        share = self.rules.shares(self.heap_mb)
        share[share <= 1.0 / NO_LIMIT] = 0.0
        if self.rules.one_component:
            count = np.bincount(self.component, minlength=len(share))
            share = np.maximum(share, 1.0 / np.maximum(count, 1))
        share = np.maximum(share, 1.0 / self.per_worker)
        if self.cautious:
            # First fit leaves one worker at most half empty; a component by itself may fill none.
            alone = self.rules.one_component or self.rules.executors < NO_LIMIT
            share = np.ones_like(share) if alone else np.minimum(2.0 * share, 1.0)
            share[[component for pair in self.rules.apart for component in pair]] = 1.0
        return np.asarray(share[self.component], dtype=np.float64)


def workers_of(topology: Topology, storm: StormSettings) -> WorkerNeeds:
    """Read what a topology says about its workers.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    n_components = len(topology.component_names)
    weight = np.zeros((n_components, n_components))
    ends = np.array([topology.stream_from, topology.stream_to], dtype=np.int64)
    np.add.at(weight, (ends[0], ends[1]), 1.0)
    weight += weight.T
    np.fill_diagonal(weight, 0.0)
    asked = max(min(topology.num_workers, topology.n_executors), 1)
    return WorkerNeeds(
        component=np.array(topology.executor_component, dtype=np.int64),
        heap_mb=np.array(topology.component_heap_mb or (0.0,) * n_components, dtype=np.float64),
        weight=weight,
        rules=_rules(topology, storm),
        asked=asked,
        per_worker=-(-topology.n_executors // asked) if asked > 1 else math.inf,
    )


def rules_as_asked(topology: Topology, storm: StormSettings) -> WorkerRules:
    """Return what a worker may hold if there are to be as many workers as are asked for.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    rules = _rules(topology, storm)
    if topology.num_workers <= 1:
        return rules
    even = max(-(-topology.n_executors // topology.num_workers), 1)
    return replace(rules, executors=min(rules.executors, even))


def _rules(topology: Topology, storm: StormSettings) -> WorkerRules:
    return WorkerRules(
        heap_mb=storm.heap_mb if topology.component_heap_mb else math.inf,
        executors=1 if storm.one_executor_per_worker else NO_LIMIT,
        one_component=storm.one_component_per_worker,
        apart=apart_of(topology, storm),
    )
