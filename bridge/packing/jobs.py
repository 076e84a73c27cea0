"""A topology becomes a job: its missing executors by component, beside the workers that run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.packing.grounds import MEMORY, demands, known
from bridge.problem.assignment import left_slots
from bridge.problem.node_limits import node_limits
from bridge.problem.shared_memory import shared_of
from bridge.problem.workers import rules_as_asked
from bridge.wire.messages import UNASSIGNED
from scheduler.packing.job import NO_LIMIT, Job, Worker

if TYPE_CHECKING:
    from bridge.network.cluster import Hosts, Slot
    from bridge.packing.grounds import Grounds
    from bridge.problem.permits import Permits
    from bridge.wire.messages import PlanRequest, Topology
    from bridge.wishes.storm_settings import StormSettings
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Order:
    """A topology with executors to place.

    Attributes:
        index: Position of the topology in the request.
        job: What is packed.
        missing: Indices of the executors to place, ascending.
        running: Slot of each worker that runs, in the order of the job's.
        reasons: Why executors of a component may go nowhere, by component.
    """

    index: int
    job: Job
    missing: IntArray
    running: tuple[Slot, ...]
    reasons: tuple[str, ...]


def order_of(
    request: PlanRequest,
    index: int,
    grounds: Grounds,
    hosts: Hosts,
    wishes: Wishes,
    *,
    permits: Permits | None = None,
    soft_heap: bool = False,
) -> Order:
    """Describe what has to be placed of a topology.

    Args:
        request: The round.
        index: Position of the topology in the request.
        grounds: The supervisors.
        hosts: The hosts.
        wishes: How it wants to be placed.
        permits: Where its executors may run; None if that is on every host.
        soft_heap: Whether workers may need more heap than they have where it fits no other way.
    """
    storm = wishes.storm
    topology = request.topologies[index]
    component = np.array(topology.executor_component, dtype=np.int64)
    n_components = len(topology.component_names)
    where = np.array(topology.executor_supervisor, dtype=np.int64)
    missing = np.flatnonzero(where == UNASSIGNED)
    demand = demands((topology,), len(request.resource_names))
    # Executors of a component need the same: Storm states resources per component.
    first = np.array([np.flatnonzero(component == each)[:1].sum() for each in range(n_components)])
    edges = _edges(topology, component)
    rules = rules_as_asked(topology, storm)
    running, slots = _workers(topology, component, n_components)
    left = left_slots(topology)
    job = Job(
        count=np.bincount(component[missing], minlength=n_components).astype(np.int64),
        demand=demand[first] if topology.n_executors else np.zeros((n_components, demand.shape[1])),
        heap_mb=np.array(topology.component_heap_mb or (0.0,) * n_components, dtype=np.float64),
        edges=edges,
        weight=np.ones(len(edges)),
        rules=rules,
        # As many workers as were asked for are a wish.
        loose=None if storm.one_executor_per_worker else replace(rules, executors=NO_LIMIT),
        permitted=None if permits is None else permits.widened.permitted[:, grounds.host],
        running=running,
        restarting=frozenset(place for place, slot in enumerate(slots) if slot in left),
        per_node=node_limits(topology, storm),
        shared=shared_of(topology, MEMORY),
        rank=_rank(hosts, grounds, storm),
        asked=max(topology.num_workers - len(running), 0) if topology.num_workers > 1 else 0,
        soft_heap=soft_heap,
    )
    return Order(index, job, missing, slots, tuple(permits.reasons.values()) if permits else ())


def _edges(topology: Topology, component: IntArray) -> IntArray:
    """(n_edges, 2) an edge per stream between different components that have executors."""
    present = np.bincount(component, minlength=len(topology.component_names)) > 0
    edges = np.array([topology.stream_from, topology.stream_to], dtype=np.int64).T.reshape(-1, 2)
    return np.asarray(edges[(edges[:, 0] != edges[:, 1]) & present[edges].all(axis=1)], dtype=np.int64)


def _workers(
    topology: Topology, component: IntArray, n_components: int
) -> tuple[tuple[Worker, ...], tuple[Slot, ...]]:
    """The workers that run with their slots, in the order of their first executors."""
    if topology.executor_supervisor.count(UNASSIGNED) == topology.n_executors:
        return (), ()
    where = np.array(topology.executor_supervisor, dtype=np.int64)
    port = np.array(topology.executor_port, dtype=np.int64)
    placed = np.flatnonzero(where != UNASSIGNED)
    slot = where[placed] * (port.max(initial=0) + 1) + port[placed]
    _, first, worker = np.unique(slot, return_index=True, return_inverse=True)
    cell = worker * n_components + component[placed]
    count = np.bincount(cell, minlength=len(first) * n_components).reshape(len(first), n_components)
    order = np.argsort(first, kind="stable").tolist()
    workers = (Worker(int(where[placed[first[each]]]), count[each].astype(np.int64)) for each in order)
    slots = ((int(where[placed[first[each]]]), int(port[placed[first[each]]])) for each in order)
    return tuple(workers), tuple(slots)


def _rank(hosts: Hosts, grounds: Grounds, storm: StormSettings) -> IntArray | None:
    if not (storm.favored or storm.unfavored):
        return None
    favored: BoolArray = known(hosts, storm.favored, grounds.host)
    return np.asarray(known(hosts, storm.unfavored, grounds.host).astype(np.int64) - favored, dtype=np.int64)
