"""The supervisors of a large round as the nodes of the packing planner, with what runs on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import EXECUTORS, UNLIMITED, stated_amount
from bridge.problem.shared_memory import shared_of
from bridge.wire.messages import UNASSIGNED
from scheduler.packing.fleet import Fleet, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.network.cluster import Hosts
    from bridge.settings import CapacitySettings
    from bridge.wire.messages import PlanRequest, Supervisor, Topology
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

MEMORY = 1
RESOURCES = ("CPU", "memory", "executors")
"""Resources of every supervisor, before those that the cluster's supervisors name themselves."""


@dataclass(frozen=True, eq=False)
class Grounds:
    """All supervisors of a round; those that may take nothing new have no free slot.

    Attributes:
        fleet: A node per supervisor, in the order of the request.
        resources: Names of the resources.
        soft: (n_supervisors, n_resources) what may be exceeded where a topology fits no other way.
        free: (n_supervisors, n_resources) what is left by what runs.
        slots: (n_supervisors,) free worker slots.
        ports: Free ports per supervisor, lowest first.
        host: (n_supervisors,) host index of each supervisor.
    """

    fleet: Fleet
    resources: tuple[str, ...]
    soft: BoolArray
    free: FloatArray
    slots: IntArray
    ports: tuple[tuple[int, ...], ...]
    host: IntArray


def survey(
    request: PlanRequest,
    hosts: Hosts,
    settings: CapacitySettings,
    steps: Callable[[Sequence[str]], FloatArray | None] = lambda _: None,
) -> Grounds:
    """Take stock of the supervisors.

    Args:
        request: The round.
        hosts: Its hosts.
        settings: How much hosts carry.
        steps: Returns what it costs to go from site to site by their names, None if that is not known.
    """
    supervisors = request.supervisors
    capacity = np.array([_capacity(each, request.resource_names) for each in supervisors], dtype=np.float64)
    capacity = capacity.reshape(len(supervisors), len(RESOURCES) + len(request.resource_names))
    host = np.array(hosts.host_of_supervisor, dtype=np.int64)
    if settings.resources == "off":
        capacity[:] = UNLIMITED
    stated = np.array([each.limited for each in hosts.hosts], dtype=np.bool_)[host]
    capacity[:, 2] = _executors(supervisors, hosts, host, capacity[:, 0] < UNLIMITED)
    used = np.zeros_like(capacity)
    held: dict[int, set[int]] = {}
    for topology in request.topologies:
        where = np.array(topology.executor_supervisor, dtype=np.int64)
        placed = np.flatnonzero(where != UNASSIGNED)
        if len(placed):
            np.add.at(used, where[placed], demands(topology, len(request.resource_names))[placed])
            used[:, MEMORY] += shared_memory(topology, where, np.array(topology.executor_port), len(used))
            for supervisor, port in set(
                zip(topology.executor_supervisor, topology.executor_port, strict=True)
            ):
                held.setdefault(supervisor, set()).add(port)
    ports = tuple(
        tuple(sorted(set(each.ports) - held.get(index, set()))) if each.usable else ()
        for index, each in enumerate(supervisors)
    )
    return Grounds(
        fleet=Fleet(capacity, 1.0, _levels(request, hosts, host, steps)),
        resources=(*RESOURCES, *request.resource_names),
        soft=_soft(stated, settings, capacity),
        free=capacity - used,
        slots=np.array([len(each) for each in ports], dtype=np.int64),
        ports=ports,
        host=host,
    )


def demands(topology: Topology, n_named: int) -> FloatArray:
    """(n_executors, n_resources) what each executor of a topology needs.

    Args:
        topology: The topology.
        n_named: Number of resources that the cluster's supervisors name themselves.
    """
    component = np.array(topology.executor_component, dtype=np.int64)
    named = np.zeros((len(topology.component_names), n_named))
    if topology.component_resources is not None:
        named = np.array(topology.component_resources, dtype=np.float64).reshape(named.shape)
    own = np.stack(
        [topology.executor_cpu_percent, topology.executor_memory_mb, np.ones(topology.n_executors)], axis=1
    )
    table = np.concatenate([own.reshape(topology.n_executors, len(RESOURCES)), named[component]], axis=1)
    return np.asarray(np.clip(np.nan_to_num(table), 0.0, UNLIMITED), dtype=np.float64)


def shared_memory(topology: Topology, where: IntArray, port: IntArray, n_supervisors: int) -> FloatArray:
    """(n_supervisors,) memory that a topology's components share on each supervisor, MB.

    Args:
        topology: The topology.
        where: (n_executors,) supervisor of each executor, -1 if it has none.
        port: (n_executors,) its port.
        n_supervisors: Number of supervisors.
    """
    shared, placed = shared_of(topology, MEMORY), np.flatnonzero(where != UNASSIGNED)
    if shared is None or not len(placed):
        return np.zeros(n_supervisors)
    component = np.array(topology.executor_component, dtype=np.int64)
    return shared.usage(component[placed], where[placed], port[placed], n_supervisors)


def _capacity(supervisor: Supervisor, names: Sequence[str]) -> list[float]:
    # What a supervisor does not name it does not have; CPU and memory it may just not know.
    named = supervisor.resources or (0.0,) * len(names)
    known = (supervisor.cpu_percent, supervisor.memory_mb)
    return [
        *(stated_amount(amount) or UNLIMITED for amount in known),
        UNLIMITED,
        *(stated_amount(amount) or 0.0 for amount in named),
    ]


def _executors(
    supervisors: Sequence[Supervisor], hosts: Hosts, host: IntArray, by_cpu: BoolArray
) -> FloatArray:
    """(n_supervisors,) executors of each: the host's number, over its usable supervisors.

    Where CPU says what a host carries its fair share of executors does not.
    """
    limit = np.array([each.capacity[EXECUTORS] for each in hosts.hosts], dtype=np.float64)
    stated = np.array([each.limited for each in hosts.hosts], dtype=np.bool_)
    usable = np.array([supervisor.usable for supervisor in supervisors], dtype=np.bool_)
    sharing = np.maximum(np.bincount(host[usable], minlength=len(limit)), 1)
    each = limit[host] / sharing[host]
    own = np.where(stated[host], np.floor(each), np.ceil(each))
    return np.where(by_cpu & ~stated[host], UNLIMITED, own)


def _soft(stated: BoolArray, settings: CapacitySettings, capacity: FloatArray) -> BoolArray:
    """(n_supervisors, n_resources) limits that may be exceeded; a fair share of executors always may."""
    soft = np.zeros(capacity.shape, dtype=np.bool_)
    soft[:, :2] = settings.resources == "soft"
    soft[:, 2] = ~stated
    return np.asarray(soft & (capacity < UNLIMITED), dtype=np.bool_)


def _levels(
    request: PlanRequest,
    hosts: Hosts,
    host: IntArray,
    steps: Callable[[Sequence[str]], FloatArray | None],
) -> tuple[Level, ...]:
    """Hosts, racks and sites, as far as more than one of them is known."""
    racks = [each.rack or "" for each in request.supervisors]
    sites = [hosts.hosts[index].site or "" for index in host.tolist()]
    # Racks of one name at two sites are two racks.
    rack_names, rack = _numbered([f"{where}\n{name}" for where, name in zip(sites, racks, strict=True)])
    site_names, site = _numbered(sites)
    levels = [Level("host", host)]
    if any(racks) and len(rack_names) > 1:
        levels.append(Level("rack", rack))
    if len(site_names) > 1:
        levels.append(Level("site", site, far=steps(site_names)))
    return tuple(levels)


def _numbered(names: Sequence[str]) -> tuple[list[str], IntArray]:
    known = sorted(set(names))
    number = {name: index for index, name in enumerate(known)}
    return known, np.array([number[name] for name in names], dtype=np.int64)


def known(hosts: Hosts, names: Sequence[str], host: IntArray) -> BoolArray:
    """(n_supervisors,) supervisors whose host is among some names."""
    wanted = set(names)
    listed = np.array([each.name in wanted for each in hosts.hosts], dtype=np.bool_)
    return np.asarray(listed[host] if len(host) else np.zeros(0, dtype=np.bool_))
