"""The daemon's own check of the plans of a large round, independent of how they came about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.packing.grounds import MEMORY, demands, shared_memory
from bridge.wire.messages import UNASSIGNED
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.wire.messages import PlanRequest
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

# Sums of resource amounts may differ by rounding.
_TOLERANCE = 1e-6


class PlanCheck:
    """Plans of one round, checked one after the other; each that passes takes its ports and resources.

    Args:
        request: The round.
        grounds: The supervisors with what runs on them.
    """

    def __init__(self, request: PlanRequest, grounds: Grounds) -> None:
        self._request = request
        self._grounds = grounds
        self._free = np.array(grounds.free)
        self._ports = [set(ports) for ports in grounds.ports]
        self._hard = np.ones_like(grounds.soft)

    @property
    def left(self) -> Grounds:
        """The supervisors with what the plans so far leave."""
        return replace(
            self._grounds,
            free=np.array(self._free),
            slots=np.array([len(each) for each in self._ports], dtype=np.int64),
            ports=tuple(tuple(sorted(each)) for each in self._ports),
        )

    def be_lenient(self, nodes: BoolArray) -> None:
        """Let the soft capacities of some supervisors be exceeded, as a plan says that it does.

        Args:
            nodes: (n_supervisors,) these supervisors.
        """
        self._hard = ~(self._grounds.soft & nodes[:, None])

    def take(
        self,
        order: Order,
        slots: Sequence[Slot],
        *,
        moving: bool = False,
        joining: bool = False,
        above_shares: bool = False,
    ) -> tuple[str, ...]:
        """Take what a plan uses if nothing is wrong with it.

        Args:
            order: What was to be placed.
            slots: Slot per executor of the topology.
            moving: Whether running executors may move, as a pin of theirs is broken.
            joining: Whether executors may join workers of the topology that run, and restart then.
            above_shares: Whether fair shares of executors may be exceeded, other than stated numbers.

        Returns:
            One phrase per fault; empty if each executor that ran keeps its slot or may move, each other one
            has a free port of a host that is permitted and has room, and each new worker keeps its rules.
        """
        topology = self._request.topologies[order.index]
        if len(slots) != topology.n_executors:
            return (f"{counted(len(slots), 'slot')} for {counted(topology.n_executors, 'executor')}",)
        # Two lists are read much faster than a list of pairs.
        where = np.array([slot[0] for slot in slots], dtype=np.int64)
        port = np.array([slot[1] for slot in slots], dtype=np.int64)
        if not ((where >= 0) & (where < len(self._ports))).all():
            return ("a slot is on no supervisor of the round",)
        before = np.array([topology.executor_supervisor, topology.executor_port], dtype=np.int64)
        stays = (np.array([where, port]) == before).all(axis=0)
        if not (moving or stays[before[0] != UNASSIGNED].all()):
            return ("a running executor would move",)
        new = np.flatnonzero(~stays)
        taken = set(zip(where[new].tolist(), port[new].tolist(), strict=True))
        if moving or joining:
            taken -= set(zip(*before.tolist(), strict=True))
        faults = [
            f"port {number} of supervisor {self._request.supervisors[node].id} is not free"
            for node, number in sorted(slot for slot in taken if slot[1] not in self._ports[slot[0]])
        ]
        table = demands((topology,), len(self._request.resource_names))
        amounts = table[new]
        nodes = np.unique(where[new])
        added = np.zeros((len(nodes), amounts.shape[1]))
        np.add.at(added, np.searchsorted(nodes, where[new]), amounts)
        n_nodes = len(self._ports)
        if order.job.shared is not None:
            shared = shared_memory(topology, where, port, n_nodes)
            shared -= shared_memory(topology, before[0], before[1], n_nodes)
            added[:, MEMORY] += shared[nodes]
        # What moves frees what it had.
        moved = new[before[0][new] != UNASSIGNED]
        left = np.array(self._free) if len(moved) else self._free
        np.add.at(left, before[0][moved], table[moved])
        faults.extend(self._room_faults(nodes, added, left[nodes], above_shares=above_shares))
        component = np.array(topology.executor_component, dtype=np.int64)
        permitted = order.job.permitted
        if permitted is not None and not permitted[component[new], where[new]].all():
            faults.append("an executor would come to a host that it may not come to")
        faults.extend(_colocation_faults(order, component, where, new))
        # A running worker that an executor comes to is looked at as a whole.
        slot = where * (port.max(initial=0) + 1) + port
        changed = np.isin(slot, slot[new])
        faults.extend(_worker_faults(order, component[changed], slot[changed]))
        if not faults:
            self._free = left
            self._free[nodes] -= added
            for node, number in taken:
                self._ports[node].remove(number)
        return tuple(faults)

    def _room_faults(
        self, nodes: IntArray, added: FloatArray, left: FloatArray, *, above_shares: bool
    ) -> list[str]:
        hard = np.array(self._hard[nodes])
        if above_shares:
            hard[:, 2] &= ~self._grounds.soft[nodes, 2]
        over = (added > 0) & hard & (added > left + _TOLERANCE * np.maximum(np.abs(left), 1.0))
        return [
            f"supervisor {self._request.supervisors[int(nodes[row])].id} would be overfull by "
            f"{self._grounds.resources[column]}"
            for row, column in zip(*np.nonzero(over), strict=True)
        ]


def _colocation_faults(order: Order, component: IntArray, where: IntArray, new: IntArray) -> list[str]:
    """Say where new executors would be more of a component on one supervisor than may be there."""
    if order.job.per_node is None:
        return []
    spots = np.stack([component, where])
    _, spot, together = np.unique(spots, axis=1, return_inverse=True, return_counts=True)
    crowded = (together[spot.ravel()] > order.job.per_node[component])[new]
    return ["more executors of a component would be together than may be"] if crowded.any() else []


def _worker_faults(order: Order, component: IntArray, slot: IntArray) -> list[str]:
    """Say what workers hold that they may not, by component and slot of each of their executors."""
    job = order.job
    _, worker = np.unique(slot, return_inverse=True)
    size = np.bincount(worker)
    several = size > 1
    heap = np.bincount(worker, weights=job.heap_mb[component])
    if job.shared is not None:
        for piece, heap_mb in enumerate(job.shared.heap_mb.tolist()):
            heap[np.unique(worker[job.shared.users[piece][component]])] += heap_mb
    faults = []
    # As many workers as were asked for are a wish.
    if (size > (job.loose or job.rules).executors).any():
        faults.append("a worker would hold more executors than it may")
    if (several & (heap > job.rules.heap_mb * (1 + _TOLERANCE))).any():
        faults.append("a worker would need more heap than it may have")
    if job.rules.one_component or job.rules.apart:
        held: dict[int, list[int]] = {}
        for each, kind in zip(worker.tolist(), component.tolist(), strict=True):
            others = held.setdefault(each, [])
            if not job.rules.allow(kind, others):
                faults.append("a worker would hold components that must be apart")
                break
            others.append(kind)
    return faults
