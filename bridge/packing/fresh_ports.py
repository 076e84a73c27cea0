"""A worker that starts anew where its topology ran before starts on another port, if one is free.

Workers of a topology do not end and start at the same moments on all hosts. One that starts on the port of
one that has still to end has two faults: its supervisor starts it only when the old one has ended, and others
that are up earlier connect to the old one. Storm's clients notice that such a connection is gone, but connect
again only when they send, or in a check every 30 s; and a worker sends nothing before all of its connections
are up. Where one worker alone starts there is no such neighbour, and on its old port others find it again at
once: they learn of another one within `task.refresh.poll.secs`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import executors_by_slot, left_slots
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.network.cluster import Slot
    from bridge.wire.messages import PlanRequest, PlanResponse, Topology, TopologyPlan


def with_fresh_ports(request: PlanRequest, response: PlanResponse) -> PlanResponse:
    """Return the response with other ports for workers that do not go on as they were.

    Args:
        request: The round as the shim sees it.
        response: Its plans.
    """
    if not any(plan.executor_port for plan in response.plans):
        return response
    topologies = {each.id: each for each in request.topologies}
    taken = {slot for each in request.topologies for slot in _ran(each)}
    taken |= {slot for plan in response.plans for slot in _given(plan)}
    plans = tuple(_freshened(request, topologies[plan.topology_id], plan, taken) for plan in response.plans)
    return replace(response, plans=plans)


def _freshened(
    request: PlanRequest, topology: Topology, plan: TopologyPlan, taken: set[Slot]
) -> TopologyPlan:
    before = executors_by_slot(_last(topology))
    left = left_slots(topology)
    slots = list(_given(plan))
    starting = [
        (slot, executors)
        for slot, executors in sorted(executors_by_slot(slots).items())
        if before.get(slot) != executors or slot in left
    ]
    for slot, executors in starting if len(starting) > 1 else ():
        if slot not in before and slot not in left:
            continue
        supervisor = slot[0]
        # the next one, round about: the one before that may not have ended for long
        ports = sorted(request.supervisors[supervisor].ports, key=lambda port: (port <= slot[1], port))
        port = next((port for port in ports if (supervisor, port) not in taken), None)
        if port is not None:
            taken.add((supervisor, port))
            for executor in executors:
                slots[executor] = (supervisor, port)
    return replace(plan, executor_port=tuple(port for _, port in slots))


def _given(plan: TopologyPlan) -> Iterator[Slot]:
    return zip(plan.executor_supervisor, plan.executor_port, strict=True)


def _last(topology: Topology) -> list[Slot | None]:
    """Return for each executor the slot in which it runs, or ran last; None if there is none."""
    runs = zip(topology.executor_supervisor, topology.executor_port, strict=True)
    nowhere = (UNASSIGNED,) * topology.n_executors
    ran = zip(topology.last_supervisor or nowhere, topology.last_port or nowhere, strict=True)
    found = (now if now[0] != UNASSIGNED else last for now, last in zip(runs, ran, strict=True))
    return [None if slot[0] == UNASSIGNED else slot for slot in found]


def _ran(topology: Topology) -> Iterator[Slot]:
    yield from (slot for slot in _last(topology) if slot is not None)
    yield from left_slots(topology)
