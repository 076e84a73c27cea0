"""Hosts that are to be emptied: nothing comes to them, and what runs there leaves, worker after worker.

Executors that leave in a round are planned like lost ones, whatever the size of the cluster: they take free
slots before they join workers that run. So many leave as may restart in one round, and one worker at least.
Those that find no room run on where they are. Missing executors come first: a topology that lacks some keeps
what it has on such hosts until it is whole.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.network.cluster import gather_hosts
from bridge.problem.assignment import assignment_of, executors_by_slot
from bridge.problem.permits import permits_of
from bridge.problem.wishes import HELD, wishes_of
from bridge.readings.believed import read_nodes
from bridge.readings.drains import read_drains
from bridge.round.last_slots import priced
from bridge.wire.messages import UNASSIGNED, Decision, TopologyPlan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.round.round_report import Round
    from bridge.settings import PlanSettings, Settings
    from bridge.wire.messages import PlanRequest, Topology

# Of a topology that is being killed Storm ends the workers itself, and one that is rebalanced it places anew.
_LEFT_ALONE = HELD.keys() - {"INACTIVE"}


def closed(request: PlanRequest, settings: Settings) -> PlanRequest:
    """Return the request where nothing may come to hosts that are to be emptied; itself if there are none.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
    """
    return _closed(request, settings)[0]


def _closed(request: PlanRequest, settings: Settings) -> tuple[PlanRequest, Sequence[Host]]:
    """Return also the hosts of the round, if any of them is to be emptied."""
    drains = read_drains(request.drains)
    if not drains.left_s:
        return request, ()
    names = frozenset(supervisor.host for supervisor in request.supervisors)
    readings = read_nodes(request, names, settings.readings)
    hosts = gather_hosts(request, settings.capacity, readings).hosts
    drained = {host.name for host in hosts if drains.cover(host.name, host.site)}
    if not drained:
        return request, ()
    supervisors = tuple(
        replace(each, blacklisted=True) if each.host in drained else each for each in request.supervisors
    )
    shut = replace(request, supervisors=supervisors)
    return shut, gather_hosts(shut, settings.capacity, readings).hosts


@dataclass(frozen=True)
class Emptying:
    """What leaves hosts that are to be emptied in one round.

    Attributes:
        before: The round as the shim sees it.
        request: The same where nothing may come to these hosts, without those that leave.
        settings: The daemon's settings for what else happens in the round.
        leaving: Number of executors that leave, by topology id.
        staying: Number of executors that do not, and why, by topology id.
    """

    before: PlanRequest
    request: PlanRequest
    settings: Settings
    leaving: Mapping[str, int]
    staying: Mapping[str, tuple[int, str]]

    def settled(self, done: Round) -> Round:
        """Return what comes of the round: who finds no room stays, and what leaves has its price.

        Args:
            done: The round as it was planned.
        """
        reasons = dict(done.left_out)
        planned = {plan.topology_id: plan for plan in done.response.plans}
        for name in self.leaving:
            plan = planned.get(name)
            if plan is None or plan.decision is not Decision.ASSIGN:
                why = reasons.get(name, "no time left in this round") if plan is None else plan.status
                planned[name] = _kept(name, why)
        leaving = replace(done.response, plans=tuple(planned[name] for name in self.leaving))
        moved = priced(self.before, leaving)
        planned.update((plan.topology_id, plan) for plan in moved.plans)
        noted = tuple(self._noted(plan) for plan in planned.values())
        prices = [plan.price for plan in noted if plan.price is not None]
        remaining = sum(number for number, _ in self.staying.values()) + sum(
            self.leaving[plan.topology_id] for plan in moved.plans if plan.decision is not Decision.ASSIGN
        )
        return replace(
            done,
            response=replace(done.response, plans=noted),
            # Who leaves and finds no room runs on, and needs no other scheduler.
            left_out=tuple(each for each in done.left_out if each[0] not in self.leaving),
            moves=sum(price.executors_moved for price in prices),
            restarts=sum(price.executors_restarted or 0 for price in prices),
            on_drained_hosts=remaining,
        )

    def _noted(self, plan: TopologyPlan) -> TopologyPlan:
        """Say what of a topology leaves, and why the rest does not."""
        parts = [plan.status]
        if plan.topology_id in self.staying:
            number, why = self.staying[plan.topology_id]
            parts.insert(0, f"{number} executors stay on drained hosts, {why}")
        if plan.topology_id in self.leaving and plan.decision is Decision.ASSIGN:
            parts.insert(0, f"{self.leaving[plan.topology_id]} executors leave drained hosts")
        return replace(plan, status="; ".join(parts))


def emptying(request: PlanRequest, settings: Settings) -> Emptying | None:
    """Choose what leaves hosts that are to be emptied; None if there are no such hosts.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
    """
    shut, hosts = _closed(request, settings)
    if shut is request:
        return None
    pairs = zip(shut.supervisors, request.supervisors, strict=True)
    drained = frozenset(index for index, (now, was) in enumerate(pairs) if now is not was)
    lacking = any(UNASSIGNED in topology.executor_supervisor for topology in request.topologies)
    evicting = lacking and settings.plan.evict
    left = most = settings.move.max_restarts_per_round
    topologies = list(shut.topologies)
    leaving: dict[str, int] = {}
    staying: dict[str, tuple[int, str]] = {}
    # Another one is first in each round: one without room must not always take the place of the others.
    first = zlib.crc32(request.round_id.encode()) % max(len(topologies), 1)
    for index in (*range(first, len(topologies)), *range(first)):
        topology = topologies[index]
        if drained.isdisjoint(topology.executor_supervisor):
            continue
        running = executors_by_slot(assignment_of(topology))
        workers = [each for slot, each in running.items() if slot[0] in drained]
        free, why = _free_to_go(topology, workers, hosts, settings.plan, evicting=evicting)
        chosen: set[int] = set()
        for worker in sorted(free, key=lambda executors: (len(executors), min(executors))):
            if len(worker) > left and (leaving or chosen or not most):
                why = f"as at most {most} may restart in a round"
                break
            chosen |= worker
            left = max(left - len(worker), 0)
        rest = sum(map(len, workers)) - len(chosen)
        if chosen:
            leaving[topology.id] = len(chosen)
            topologies[index] = _without(topology, chosen)
        if rest:
            staying[topology.id] = rest, why
    move = settings.move.model_copy(update={"max_restarts_per_round": left})
    # What leaves could run on where it is: no other topology loses its workers for it.
    plan = settings.plan.model_copy(update={"evict": settings.plan.evict and not leaving})
    others = settings.model_copy(update={"move": move, "plan": plan})
    return Emptying(request, replace(shut, topologies=tuple(topologies)), others, leaving, staying)


def _free_to_go(
    topology: Topology,
    workers: Sequence[set[int]],
    hosts: Sequence[Host],
    settings: PlanSettings,
    *,
    evicting: bool,
) -> tuple[list[set[int]], str]:
    """Return workers that may leave, and why the others do not."""
    if topology.status in _LEFT_ALONE:
        return [], f"as the topology is {HELD[topology.status]}"
    if evicting or UNASSIGNED in topology.executor_supervisor:
        return [], "as missing executors come first"
    try:
        own = wishes_of(topology, settings).own
        barred = permits_of(topology, own, hosts).reasons
    except Exception:  # noqa: BLE001  # planning the topology names what is wrong with it
        return [], "as its settings cannot be read"
    if own.frozen:
        return [], "as the topology is frozen"
    held = {index for index, component in enumerate(topology.executor_component) if component in barred}
    why = "; ".join(f"as {reason}" for reason in barred.values())
    return [each for each in workers if each.isdisjoint(held)], why


def _without(topology: Topology, leaving: set[int]) -> Topology:
    supervisor, port = (
        tuple(UNASSIGNED if index in leaving else value for index, value in enumerate(values))
        for values in (topology.executor_supervisor, topology.executor_port)
    )
    return replace(topology, executor_supervisor=supervisor, executor_port=port)


def _kept(name: str, why: str) -> TopologyPlan:
    reason = why.removeprefix("not placed: ")
    return TopologyPlan(name, Decision.KEEP, (), (), f"kept (drain waits): {reason}", "")
