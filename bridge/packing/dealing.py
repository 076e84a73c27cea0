"""New workers get ports, and executors get workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    slots = list(zip(topology.executor_supervisor, topology.executor_port, strict=True))
    waiting: dict[int, list[int]] = {}
    for executor in reversed(order.missing.tolist()):
        waiting.setdefault(topology.executor_component[executor], []).append(executor)
    for worker in workers:
        slot = (worker.node, ports[worker.node].pop(0))
        for component, count in enumerate(worker.count.tolist()):
            for _ in range(count):
                slots[waiting[component].pop()] = slot
    return tuple(slots)
