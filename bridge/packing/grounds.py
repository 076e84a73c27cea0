"""The supervisors of a large round as the nodes of the packing planner, with what runs on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import META_EXECUTORS, UNLIMITED, stated_amount
from bridge.wire.messages import UNASSIGNED
from scheduler.packing.fleet import Fleet, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Hosts
    from bridge.settings import CapacitySettings
    from bridge.wire.messages import PlanRequest, Supervisor, Topology
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

RESOURCES = ("CPU", "memory", "executors")
"""Resources of every supervisor, before those that the cluster's supervisors name themselves."""


@dataclass(frozen=True, eq=False)
class Grounds:
    """All supervisors of a round; those that may take nothing new have no free slot.

    Attributes:
        fleet: A node per supervisor, in the order of the request.
        resources: Names of the resources.
        soft: (n_resources,) resources that may be exceeded where a topology fits no other way.
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


def survey(request: PlanRequest, hosts: Hosts, settings: CapacitySettings) -> Grounds:
    """Take stock of the supervisors.

    Args:
        request: The round.
        hosts: Its hosts.
        settings: How much hosts carry.
    """
    supervisors = request.supervisors
    capacity = np.array([_capacity(each, request.resource_names) for each in supervisors], dtype=np.float64)
    capacity = capacity.reshape(len(supervisors), len(RESOURCES) + len(request.resource_names))
    host = np.array(hosts.host_of_supervisor, dtype=np.int64)
    if settings.resources == "off":
        capacity[:] = UNLIMITED
    capacity[:, 2] = _executors(supervisors, host, settings.executors_per_host)
    used = np.zeros_like(capacity)
    held: dict[int, set[int]] = {}
    for topology in request.topologies:
        where = np.array(topology.executor_supervisor, dtype=np.int64)
        placed = np.flatnonzero(where != UNASSIGNED)
        if len(placed):
            np.add.at(used, where[placed], demands(topology, len(request.resource_names))[placed])
            for supervisor, port in set(
                zip(topology.executor_supervisor, topology.executor_port, strict=True)
            ):
                held.setdefault(supervisor, set()).add(port)
    ports = tuple(
        tuple(sorted(set(each.ports) - held.get(index, set()))) if each.usable else ()
        for index, each in enumerate(supervisors)
    )
    return Grounds(
        fleet=Fleet(capacity, 1.0, _levels(request, hosts, host)),
        resources=(*RESOURCES, *request.resource_names),
        soft=np.arange(capacity.shape[1]) < (2 if settings.resources == "soft" else 0),
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


def _capacity(supervisor: Supervisor, names: Sequence[str]) -> list[float]:
    # Storm reports 0 where the capacity is unknown: then nothing is known that could be exceeded.
    own = [stated_amount(amount) or UNLIMITED for amount in (supervisor.cpu_percent, supervisor.memory_mb)]
    named = supervisor.resources or (0.0,) * len(names)
    return [*own, UNLIMITED, *map(stated_amount, named)]


def _executors(supervisors: Sequence[Supervisor], host: IntArray, usual: int | None) -> FloatArray:
    """(n_supervisors,) executors of each: the host's number, over its usable supervisors."""
    limit = np.full(len(supervisors), UNLIMITED if usual is None else float(usual))
    for index, supervisor in enumerate(supervisors):
        stated = supervisor.meta.get(META_EXECUTORS, "")
        if stated.isascii() and stated.isdigit():
            limit[index] = float(stated)
    usable = np.array([supervisor.usable for supervisor in supervisors], dtype=np.bool_)
    sharing = np.maximum(np.bincount(host[usable], minlength=int(host.max(initial=0)) + 1), 1)
    return np.asarray(np.floor(limit / sharing[host]), dtype=np.float64)


def _levels(request: PlanRequest, hosts: Hosts, host: IntArray) -> tuple[Level, ...]:
    """Hosts, racks and sites, as far as more than one of them is known."""
    racks = [each.rack or "" for each in request.supervisors]
    sites = [hosts.hosts[index].site or "" for index in host.tolist()]
    site = _numbered(sites)
    # Racks of one name at two sites are two racks.
    rack = _numbered([f"{where}\n{name}" for where, name in zip(sites, racks, strict=True)])
    levels = [Level("host", host)]
    levels.extend(
        Level(name, group) for name, group in (("rack", rack), ("site", site)) if group.max(initial=0) > 0
    )
    return tuple(levels)


def _numbered(names: Sequence[str]) -> IntArray:
    number = {name: index for index, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)


def known(hosts: Hosts, names: Sequence[str], host: IntArray) -> BoolArray:
    """(n_supervisors,) supervisors whose host is among some names."""
    wanted = set(names)
    listed = np.array([each.name in wanted for each in hosts.hosts], dtype=np.bool_)
    return np.asarray(listed[host] if len(host) else np.zeros(0, dtype=np.bool_))
