"""The supervisors of a large round as the nodes of the packing planner, with what runs on them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from bridge.network.cluster import EXECUTORS, UNLIMITED, stated_amount
from bridge.problem.assignment import assignment_of
from bridge.problem.shared_memory import shared_of
from bridge.wire.messages import UNASSIGNED
from scheduler.packing.fleet import Fleet, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import DTypeLike, NDArray

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
    held: dict[int, set[int]] = {}
    for supervisor, port in {slot for each in request.topologies for slot in assignment_of(each) if slot}:
        held.setdefault(supervisor, set()).add(port)
    ports = tuple(
        tuple(sorted(set(each.ports) - held.get(index, set()))) if each.usable else ()
        for index, each in enumerate(supervisors)
    )
    return Grounds(
        fleet=Fleet(capacity, 1.0, _levels(request, hosts, host, steps)),
        resources=(*RESOURCES, *request.resource_names),
        soft=_soft(stated, settings, capacity),
        free=capacity - _used(request),
        slots=np.array([len(each) for each in ports], dtype=np.int64),
        ports=ports,
        host=host,
    )


def demands(topologies: Sequence[Topology], n_named: int) -> FloatArray:
    """(n_executors, n_resources) what each executor needs, one topology's after the other's.

    Args:
        topologies: The topologies; all at once are far cheaper than thousands one by one.
        n_named: Number of resources that the cluster's supervisors name themselves.
    """
    cpu = _joined((each.executor_cpu_percent for each in topologies), np.float64)
    memory = _joined((each.executor_memory_mb for each in topologies), np.float64)
    table = np.ones((len(cpu), len(RESOURCES) + n_named))
    table[:, 0], table[:, MEMORY] = cpu, memory
    if n_named:
        components = [len(each.component_names) for each in topologies]
        none = repeat((0.0,) * n_named)
        named = _joined(
            (
                each.component_resources or chain.from_iterable(islice(none, number))
                for each, number in zip(topologies, components, strict=True)
            ),
            np.float64,
        ).reshape(-1, n_named)
        first = np.repeat(
            np.cumsum([0, *components])[: len(components)], [each.n_executors for each in topologies]
        )
        component = _joined((each.executor_component for each in topologies), np.int64)
        table[:, len(RESOURCES) :] = named[first + component]
    # A number that is none counts as nothing.
    return np.asarray(np.fmin(np.fmax(table, 0.0), UNLIMITED), dtype=np.float64)


def _joined(parts: Iterable[Iterable[float]], kind: DTypeLike) -> NDArray[Any]:
    return np.fromiter(chain.from_iterable(parts), dtype=kind)


def _used(request: PlanRequest) -> FloatArray:
    """(n_supervisors, n_resources) what the executors that run on each supervisor need."""
    n_named = len(request.resource_names)
    used = np.zeros((len(request.supervisors), len(RESOURCES) + n_named))
    where = _joined((each.executor_supervisor for each in request.topologies), np.int64)
    placed = where != UNASSIGNED
    np.add.at(used, where[placed], demands(request.topologies, n_named)[placed])
    for each in request.topologies:
        if each.shared_component:
            own = np.array(each.executor_supervisor), np.array(each.executor_port)
            used[:, MEMORY] += shared_memory(each, *own, len(used))
    return used


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
