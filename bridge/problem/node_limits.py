"""RAS constraints of one topology by position of its components, for rounds of both scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.job import NO_LIMIT

if TYPE_CHECKING:
    from bridge.problem.storm_settings import StormSettings
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import IntArray


def apart_of(topology: Topology, storm: StormSettings) -> frozenset[tuple[int, int]]:
    """Return the pairs of components, either way round, that no worker may hold together.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    place = {name: index for index, name in enumerate(topology.component_names)}
    pairs = [(place[one], place[other]) for one, other in storm.constraints.apart]
    return frozenset([*pairs, *((other, one) for one, other in pairs)])


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
