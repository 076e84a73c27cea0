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
        workers: Its new workers, for all of that.
        ports: Free ports per supervisor, lowest first; what is used is taken out.

    Returns:
        Slot per executor.
    """
    if not workers:
        return tuple(zip(topology.executor_supervisor, topology.executor_port, strict=True))
    where = np.array(topology.executor_supervisor, dtype=np.int64)
    port = np.array(topology.executor_port, dtype=np.int64)
    node = np.array([worker.node for worker in workers], dtype=np.int64)
    own = np.array([ports[worker.node].pop(0) for worker in workers], dtype=np.int64)
    # Component by component, the executors of each go to the workers in their order.
    component = np.array(topology.executor_component, dtype=np.int64)[order.missing]
    executors = order.missing[np.argsort(component, kind="stable")]
    count = np.stack([worker.count for worker in workers], axis=1)
    worker = np.repeat(np.tile(np.arange(len(workers)), len(count)), count.ravel())
    where[executors], port[executors] = node[worker], own[worker]
    return tuple(zip(where.tolist(), port.tolist(), strict=True))
