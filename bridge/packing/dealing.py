"""New workers get ports, and executors get workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.packing.jobs import Order
    from bridge.wire.messages import Topology
    from scheduler.packing.job import Worker


def deal(
    topology: Topology, order: Order, workers: Sequence[Worker], ports: Sequence[list[int]]
) -> tuple[Slot, ...]:
    """Give every executor of a topology its slot; what runs keeps its own.

    Args:
        topology: The topology.
        order: What was to be placed of it.
        workers: Its new workers and what joins running ones, for all of that.
        ports: Free ports per supervisor, lowest first; what is used is taken out.

    Returns:
        Slot per executor.
    """
    slots = list(zip(topology.executor_supervisor, topology.executor_port, strict=True))
    if not workers:
        return tuple(slots)
    own = [
        (worker.node, ports[worker.node].pop(0)) if worker.joins is None else order.running[worker.joins]
        for worker in workers
    ]
    # Component by component, the executors of each go to the workers in their order.
    missing = order.missing.tolist()
    component = np.array([topology.executor_component[executor] for executor in missing], dtype=np.int64)
    executors = order.missing[np.argsort(component, kind="stable")]
    count = np.stack([worker.count for worker in workers], axis=1)
    worker = np.repeat(np.tile(np.arange(len(workers)), len(count)), count.ravel())
    for executor, to in zip(executors.tolist(), worker.tolist(), strict=True):
        slots[executor] = own[to]
    return tuple(slots)
