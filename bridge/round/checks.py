"""The daemon's own check of an assignment, independent of how it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.assignment import executors_by_slot
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task


class PlanCheckError(RuntimeError):
    """A plan failed the daemon's own check and is not sent."""


# Sums of resource amounts may differ by rounding.
_TOLERANCE = 1e-6


def check_assignment(
    state: RoundState, task: Task, assignment: Sequence[Slot], overload: float = 0.0, least: int = 0
) -> tuple[str, ...]:
    """Look for everything that an assignment may not do.

    Args:
        state: The cluster before the assignment.
        task: The topology.
        assignment: Slot per executor.
        overload: Part of the hosts' soft capacities by which they may be exceeded.
        least: Executors for which there is room on each host that states no number of them.

    Returns:
        One phrase per fault; empty if every executor has one known slot that is open to it, on a host that
        its pin and avoidances permit, no host gets more than it carries, and no worker more than it may hold.
    """
    faults = check_slots(state, task.index, assignment)
    if faults:
        return faults
    hosts = np.array([state.host_of(slot) for slot in assignment], dtype=np.int64)
    before = state.hosts_of(state.assignment(task.index))
    arriving = np.array([new != old for new, old in zip(hosts.tolist(), before, strict=True)], dtype=np.bool_)
    forbidden = np.flatnonzero(arriving & ~task.permits.widened.permitted[task.component, hosts])
    found = [f"executor {task.graph.names[i]} may not come to {_name(state, hosts[i])}" for i in forbidden]
    demand = task.demand(state)
    left = task.capacity_left(state, overload, least)
    load = np.zeros_like(left)
    added = np.zeros_like(load)
    np.add.at(load, hosts, demand)
    np.add.at(added, hosts[arriving], demand[arriving])
    # A host that is overfull already may keep what it has, but gets nothing more.
    overfull = (load > left + _TOLERANCE) & (added > 0)
    found.extend(_broken_rules(state, task, assignment))
    found.extend(f"{_name(state, host)} would be overfull" for host in np.unique(np.nonzero(overfull)[0]))
    return tuple(found)


def _broken_rules(state: RoundState, task: Task, assignment: Sequence[Slot]) -> list[str]:
    """Name workers that get executors which their rules keep out; what runs together already may go on."""
    rules = task.workers.rules
    now, began = state.assignment(task.index), state.initial(task.index)
    found = []
    for (index, port), executors in sorted(executors_by_slot(assignment).items()):
        held = sorted(executors)
        if len(held) == 1 or not any((index, port) not in (now[each], began[each]) for each in held):
            continue
        components = task.component[held].tolist()
        heap_mb = float(task.workers.heap_mb[components].sum())
        fits = state.limits != "strict" or heap_mb <= rules.heap_mb * (1 + _TOLERANCE)
        kinds = set(components)
        apart = all(rules.allow(each, kinds - {each}) for each in kinds)
        if len(held) > rules.executors or not apart or not fits:
            name = _name(state, state.host_of((index, port)))
            found.append(f"worker {port} on {name} may not hold so much")
    return found


def _name(state: RoundState, host: int) -> str:
    return state.hosts.hosts[host].name


def check_slots(state: RoundState, topology: int, assignment: Sequence[Slot]) -> tuple[str, ...]:
    """Look for what Storm or the shim would refuse in an assignment.

    Args:
        state: The cluster before the assignment.
        topology: Index of the topology.
        assignment: Slot per executor.

    Returns:
        One phrase per fault; empty if each executor has exactly one known slot that is open to it.
    """
    began = state.initial(topology)
    if len(assignment) != len(began):
        return (f"{counted(len(assignment), 'slot')} for {counted(len(began), 'executor')}",)
    faults: list[str] = []
    supervisors = state.request.supervisors
    before, after = executors_by_slot(began), executors_by_slot(assignment)
    for slot in sorted(set(assignment)):
        index, port = slot
        if not 0 <= index < len(supervisors):
            faults.append(f"supervisor index {index} is unknown")
            continue
        supervisor = supervisors[index]
        if port not in supervisor.ports:
            faults.append(f"supervisor {supervisor.id} has no port {port}")
        if state.held_by_others(topology, slot):
            faults.append(f"port {port} of supervisor {supervisor.id} belongs to another topology")
        if after[slot] != before.get(slot) and not supervisor.usable:
            faults.append(f"supervisor {supervisor.id} is dead or blacklisted: its workers cannot change")
    return tuple(faults)
