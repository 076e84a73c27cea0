"""A small topology in a large cluster is planned executor by executor on some hosts: a round of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import EXECUTORS, META_EXECUTORS, UNLIMITED
from bridge.packing.grounds import MEMORY, demands, shared_memory
from bridge.packing.vicinity import choose_nodes
from bridge.problem.assignment import left_slots
from bridge.round.checks import PlanCheckError
from bridge.round.memory import NOTHING
from bridge.round.round_data import gather_data
from bridge.round.small.small_round import plan_small_round
from bridge.wire.messages import UNASSIGNED, Decision, ReadingKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bridge.network.cluster import Hosts
    from bridge.network.site_links import SiteLinks
    from bridge.packing.check import PlanCheck
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.problem.cpu_demand import CpuDemand
    from bridge.problem.links.bandwidth_book import Elsewhere
    from bridge.round.round_report import Course
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Supervisor, Topology, TopologyPlan
    from scheduler.base.arrays import FloatArray, IntArray

# Several topologies are to be looked at in a round, and hosts of a site are much alike.
_MOST_HOSTS = 64
# Storm's 0 means unknown: so little stands for a host that is full.
_NOTHING = 1e-9
# Of a fair share that is used up: only the greatest overload makes that room for executors.
_NO_SHARE = 1e-2


class CloseUps:
    """Plans of small topologies, one after the other.

    Args:
        request: The large round.
        settings: The daemon's settings.
        cpu: CPU that executors need, by topology id.
        check: Knows what the plans so far leave, and takes what these use.
        course: Time for all of them.
        links: The ways between sites of the large round.
        sent_beside: What other topologies than one send, None if no bandwidth is limited.

    Attributes:
        traces: Traceback by id of topologies whose planning failed here; they can still be placed by counts.
    """

    def __init__(
        self,
        request: PlanRequest,
        settings: Settings,
        cpu: Mapping[str, CpuDemand],
        check: PlanCheck,
        course: Course,
        *,
        links: SiteLinks,
        sent_beside: Callable[[int], Elsewhere | None],
    ) -> None:
        self._request = request
        self._cpu = cpu
        # Above what is declared only where the whole cluster has no room: the large round finds that out.
        self._settings = settings.within_limits()
        self._check = check
        self.traces: list[tuple[str, str]] = []
        self._course = course
        self._links = links
        self._sent_beside = sent_beside

    def plan(self, index: int, *, order: Order, moving: bool) -> TopologyPlan | None:
        """Plan one topology.

        Args:
            index: Its position in the large round.
            order: What is to be placed of it.
            moving: Whether running executors may move, as a pin of theirs is broken.

        Returns:
            None if it has to be placed otherwise: there is no time, or no room on these hosts.

        Raises:
            PlanCheckError: The plan breaks something.
        """
        if self._course.expired():
            return None
        settings, left = self._settings.plan, self._check.left
        topology = self._request.topologies[index]
        most = max(
            min(_MOST_HOSTS, settings.max_hosts, settings.max_pairs // max(topology.n_executors, 1)), 1
        )
        nodes = choose_nodes(left, order, most)
        part = _within(close_up(self._request, index, nodes, left, frozen=not moving), order, nodes)
        # Delays of all pairs of these few hosts, however few the limit for whole clusters allows.
        network = self._settings.network.model_copy(update={"max_hosts": max(len(nodes), 1)})
        data = gather_data(part, self._settings.model_copy(update={"network": network}))
        data = replace(
            data,
            hosts=_giving_way(data.hosts, nodes[left.soft[nodes, 2]], nodes) if moving else data.hosts,
            cpu=self._cpu,
            site_links=self._links.of_hosts(data.hosts.hosts),
            elsewhere=self._sent_beside(index),
        )
        done = plan_small_round(part, self._settings, data, NOTHING, self._course)
        self.traces.extend(done.traces)
        plan = next(iter(done.response.plans), None)
        if plan is None or plan.decision is Decision.UNPLACEABLE:
            return None
        plan = back(plan, nodes)
        if plan.decision is Decision.ASSIGN:
            slots = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
            faults = self._check.take(order, slots, moving=moving, joining=True, above_shares=moving)
            if faults:
                raise PlanCheckError("; ".join(faults))
        return plan


def close_up(
    request: PlanRequest, index: int, nodes: IntArray, grounds: Grounds, *, frozen: bool
) -> PlanRequest:
    """Return a round with one topology on some supervisors; what others use there is not offered.

    Args:
        request: The large round.
        index: Position of the topology in it.
        nodes: (n_nodes,) the supervisors, ascending, those where the topology runs among them.
        grounds: What is left of all supervisors.
        frozen: Whether what runs must stay where it is.
    """
    topology = request.topologies[index]
    where = np.array(topology.executor_supervisor, dtype=np.int64)
    runs = np.flatnonzero(where != UNASSIGNED)
    free = np.array(grounds.free)
    np.add.at(free, where[runs], demands((topology,), len(request.resource_names))[runs])
    free[:, MEMORY] += shared_memory(topology, where, np.array(topology.executor_port), len(free))
    held: dict[int, set[int]] = {}
    for node, port in zip(topology.executor_supervisor, topology.executor_port, strict=True):
        held.setdefault(node, set()).add(port)
    hosts = {request.supervisors[node].host for node in nodes.tolist()}
    return replace(
        request,
        supervisors=_agreeing(
            [
                _offered(request.supervisors[node], grounds, node, free[node], held.get(node, set()))
                for node in nodes.tolist()
            ]
        ),
        topologies=(_moved_to(topology, nodes, frozen=frozen),),
        readings=tuple(
            reading
            for reading in request.readings
            if reading.name == (topology.id if reading.kind is ReadingKind.RATES else None)
            or (reading.kind is ReadingKind.NODE and reading.name in hosts)
        ),
    )


def _within(part: PlanRequest, order: Order, nodes: IntArray) -> PlanRequest:
    """Return the part with supervisors closed where nothing of the topology may come.

    Who is isolated where was worked out for the large round.
    """
    permitted = order.job.permitted
    opened = np.ones(len(nodes), dtype=np.bool_)
    if permitted is not None:
        opened = np.asarray(permitted[:, nodes].any(axis=0), dtype=np.bool_)
    return replace(
        part,
        supervisors=tuple(
            each if is_open else replace(each, blacklisted=True)
            for each, is_open in zip(part.supervisors, opened.tolist(), strict=True)
        ),
        cluster_json=None,
    )


def _giving_way(hosts: Hosts, shared: IntArray, nodes: IntArray) -> Hosts:
    """Return the hosts of a part with fair shares that may be exceeded.

    What runs where it may not has no other way than these few hosts, unlike what is missing.

    Args:
        hosts: The hosts; all state how many executors they have room for.
        shared: Supervisors whose number of executors is a fair share, by position in the large round.
        nodes: (n_nodes,) the supervisors of the part, likewise.
    """
    of_share = set(np.flatnonzero(np.isin(nodes, shared)).tolist())
    return replace(
        hosts,
        hosts=tuple(
            replace(
                host,
                limited=False,
                capacity={**host.capacity, EXECUTORS: max(host.capacity[EXECUTORS], _NO_SHARE)},
            )
            if of_share.intersection(host.supervisors)
            else host
            for host in hosts.hosts
        ),
    )


def back(plan: TopologyPlan, nodes: IntArray) -> TopologyPlan:
    """Return a plan of a close-up with the supervisors' positions in the large round."""
    return replace(plan, executor_supervisor=tuple(nodes[list(plan.executor_supervisor)].tolist()))


def _offered(
    supervisor: Supervisor, grounds: Grounds, node: int, free: FloatArray, held: set[int]
) -> Supervisor:
    limited = grounds.fleet.capacity[node] < UNLIMITED
    amounts = [max(amount, _NOTHING) if limit else 0.0 for amount, limit in zip(free, limited, strict=True)]
    meta = {key: value for key, value in supervisor.meta.items() if key != META_EXECUTORS}
    # A fair share too: that of these few hosts and one topology would be another one.
    if limited[2]:
        meta[META_EXECUTORS] = str(int(amounts[2]))
    return replace(
        supervisor,
        ports=tuple(sorted({*grounds.ports[node], *held})),
        cpu_percent=float(amounts[0]),
        memory_mb=float(amounts[1]),
        meta=meta,
        resources=tuple(float(amount) for amount in amounts[3:]) if supervisor.resources else None,
    )


def _agreeing(supervisors: Sequence[Supervisor]) -> tuple[Supervisor, ...]:
    """Return the supervisors with the least number of executors that one of their host has room for.

    A plan gives executors to hosts, and each supervisor has to have room for those that it gets.
    """
    least: dict[str, int] = {}
    for each in supervisors:
        if each.usable and META_EXECUTORS in each.meta:
            number = int(each.meta[META_EXECUTORS])
            least[each.host] = min(number, least.get(each.host, number))
    return tuple(
        replace(each, meta={**each.meta, META_EXECUTORS: str(least.get(each.host, 0))})
        if META_EXECUTORS in each.meta
        else each
        for each in supervisors
    )


def _moved_to(topology: Topology, nodes: IntArray, *, frozen: bool) -> Topology:
    position = {node: place for place, node in enumerate(nodes.tolist())}
    left = [slot for slot in sorted(left_slots(topology)) if slot[0] in position]
    return replace(
        topology,
        settings_json=_frozen(topology.settings_json) if frozen else topology.settings_json,
        executor_supervisor=tuple(
            UNASSIGNED if node == UNASSIGNED else position[node] for node in topology.executor_supervisor
        ),
        last_supervisor=None,
        last_port=None,
        left_supervisor=tuple(position[supervisor] for supervisor, _ in left),
        left_port=tuple(port for _, port in left),
    )


def _frozen(settings_json: str) -> str:
    try:
        settings = json.loads(settings_json or "{}")
    except (ValueError, RecursionError):
        return settings_json
    return (
        json.dumps({**settings, "topology.stormplace.frozen": True}) if isinstance(settings, dict) else "{}"
    )
