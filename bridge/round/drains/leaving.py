"""Which executors leave hosts that are to be emptied in one round, and why the others do not."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of, executors_by_slot
from bridge.problem.permits import permits_of
from bridge.round.restart_budgets import worker_of
from bridge.wire.messages import UNASSIGNED
from bridge.wishes.wishes import HELD, wishes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bridge.network.cluster import Host
    from bridge.round.drains.drained_hosts import Closed
    from bridge.round.restart_budgets import RestartBudgets
    from bridge.settings import PlanSettings
    from bridge.wire.messages import PlanRequest, Topology

# Of a topology that is being killed Storm ends the workers itself, and one that is rebalanced it places anew.
_LEFT_ALONE = HELD.keys() - {"INACTIVE"}


@dataclass
class Leaving:
    """What leaves, by index of its topology.

    Attributes:
        executors: Those that leave.
        staying: Number of those that do not, and why.
        waits: Whether some of these wait for the budget of a later round.
    """

    executors: dict[int, frozenset[int]] = field(default_factory=dict)
    staying: dict[int, tuple[int, str]] = field(default_factory=dict)
    waits: bool = False


def affected(closed: Closed) -> list[int]:
    """Return the topologies that run on hosts that are to be emptied, by index, another one first each round.

    One that finds no room must not always take the place of the others.
    """
    topologies = closed.request.topologies
    found = [
        index
        for index, topology in enumerate(topologies)
        if not closed.drained.isdisjoint(topology.executor_supervisor)
    ]
    first = zlib.crc32(closed.request.round_id.encode()) % max(len(found), 1)
    return [*found[first:], *found[:first]]


def choose(
    closed: Closed,
    among: Sequence[int],
    settings: PlanSettings,
    most: int,
    *,
    budgets: RestartBudgets,
    workers: int,
) -> Leaving:
    """Choose what leaves, small workers first.

    Args:
        closed: The round.
        among: Topologies by index, in the order in which they are asked.
        settings: How plans are made.
        most: Executors that may restart; one larger worker goes alone.
        budgets: What of sites and workers may still restart.
        workers: Workers of a topology that may leave at once.
    """
    leaving = Leaving()
    left, spent = most, f"as at most {most} may restart now{budgets.because}"
    site_of = {index: host.site for host in closed.hosts for index in host.supervisors}
    for index in among:
        topology = closed.request.topologies[index]
        running = executors_by_slot(assignment_of(topology))
        there = [each for slot, each in running.items() if slot[0] in closed.drained]
        chosen: set[int] = set()
        why = spent
        if left > 0:
            free, why = _free_to_go(topology, there, closed.hosts, settings)
            for number, worker in enumerate(sorted(free, key=lambda each: (len(each), min(each)))):
                alone = not (leaving.executors or chosen)
                if number == workers:
                    why = "as they find no room together"
                    break
                if len(worker) > left and not alone:
                    why = spent
                    leaving.waits = True
                    break
                where = topology.executor_supervisor[min(worker)]
                goes = worker_of(topology, worker, site_of[where])
                over = budgets.why_not([goes], alone=True)
                if over:
                    why = f"as that {over}"
                    leaving.waits = True
                    continue
                budgets = budgets.after([goes])
                chosen |= worker
                left -= len(worker)
        else:
            leaving.waits |= most > 0
        if chosen:
            leaving.executors[index] = frozenset(chosen)
        rest = sum(map(len, there)) - len(chosen)
        if rest:
            leaving.staying[index] = rest, why
    return leaving


def without(request: PlanRequest, leaving: Leaving) -> PlanRequest:
    """Return the round where those that leave are missing."""
    topologies = list(request.topologies)
    for index, executors in leaving.executors.items():
        topologies[index] = _lifted(topologies[index], executors)
    return replace(request, topologies=tuple(topologies))


def _free_to_go(
    topology: Topology, workers: Sequence[set[int]], hosts: Sequence[Host], settings: PlanSettings
) -> tuple[list[set[int]], str]:
    """Return workers that may leave, and why the others do not."""
    if topology.status in _LEFT_ALONE:
        return [], f"as the topology is {HELD[topology.status]}"
    if UNASSIGNED in topology.executor_supervisor:
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


def _lifted(topology: Topology, leaving: Collection[int]) -> Topology:
    supervisor, port = (
        tuple(UNASSIGNED if index in leaving else value for index, value in enumerate(values))
        for values in (topology.executor_supervisor, topology.executor_port)
    )
    return replace(topology, executor_supervisor=supervisor, executor_port=port)
