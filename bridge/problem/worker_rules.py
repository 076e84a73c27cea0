"""What one worker of a topology may hold, and how many executors of a component one node may.

Rounds of both scales go by these: counts of components go into workers, executors into slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.job import NO_LIMIT, WorkerRules

if TYPE_CHECKING:
    from bridge.problem.storm_settings import StormSettings
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import IntArray


def worker_rules(topology: Topology, storm: StormSettings) -> WorkerRules:
    """Return what a worker of a topology may hold, components by their position.

    As many workers as were asked for (`topology.workers`) are a wish: they make the most executors of a
    worker, which a caller may drop unless `one_executor_per_worker` is set.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    executors = NO_LIMIT
    if storm.one_executor_per_worker:
        executors = 1
    elif topology.num_workers > 1:
        executors = max(-(-topology.n_executors // topology.num_workers), 1)
    place = {name: index for index, name in enumerate(topology.component_names)}
    pairs = [(place[one], place[other]) for one, other in storm.constraints.apart]
    return WorkerRules(
        heap_mb=storm.heap_mb if topology.component_heap_mb else float("inf"),
        executors=executors,
        one_component=storm.one_component_per_worker,
        apart=frozenset([*pairs, *((other, one) for one, other in pairs)]),
    )


def node_limits(topology: Topology, storm: StormSettings) -> IntArray | None:
    """(n_components,) most executors of each component on one node; None if none is limited.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    if not storm.constraints.per_node:
        return None
    stated = dict(storm.constraints.per_node)
    limits = [min(stated.get(name, NO_LIMIT), NO_LIMIT) for name in topology.component_names]
    return np.array(limits, dtype=np.int64)
