"""RAS constraints of one topology by position of its components, for rounds of both scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.job import NO_LIMIT

if TYPE_CHECKING:
    from bridge.wire.messages import Topology
    from bridge.wishes.storm_settings import StormSettings
    from scheduler.base.arrays import FloatArray, IntArray


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


@dataclass(frozen=True, eq=False)
class HostLimits:
    """Limits of executors on one host as resources of a placement problem: each executor needs one place.

    Attributes:
        names: Names of the resources.
        demand: (n_executors, n_limits) places that each executor needs, 0 or 1.
        places: (n_limits,) places on each host.
    """

    names: tuple[str, ...]
    demand: FloatArray
    places: FloatArray

    @property
    def hosts(self) -> int:
        """Least number of hosts that all executors need."""
        return int(np.ceil(self.demand.sum(axis=0) / self.places).max(initial=0))


def host_limits(topology: Topology, storm: StormSettings) -> HostLimits:
    """Return the limits of components that have more executors than one host may run.

    Args:
        topology: The topology.
        storm: What Storm's keys say about it.
    """
    limits = node_limits(topology, storm)
    component = np.array(topology.executor_component, dtype=np.int64)
    if limits is None:
        return HostLimits((), np.zeros((len(component), 0)), np.zeros(0))
    over = np.flatnonzero(np.bincount(component, minlength=len(limits)) > limits)
    names = (topology.component_names[each] for each in over)
    return HostLimits(
        tuple(f"executors of {name} on a host (maxNodeCoLocationCnt)" for name in names),
        (component[:, None] == over).astype(np.float64),
        limits[over].astype(np.float64),
    )
