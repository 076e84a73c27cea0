"""A round that is too large for placing executors one by one: counts of components go to supervisors.

Only executors without a slot are placed; what runs stays as it is. What counts is not the delay between hosts
but whether executors share a worker, a host, a rack, a site.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bridge.packing.dealing import deal
from bridge.packing.grounds import survey
from bridge.packing.jobs import order_of
from bridge.problem.wishes import by_rank, wishes_of
from bridge.round.round_report import HOLD_MS, Round
from bridge.wire.messages import UNASSIGNED, Decision, PlanResponse, Price, TopologyPlan
from scheduler.packing.pack import Packer
from scheduler.packing.reasons import why_no_room

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.network.cluster import Slot
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.round.memory import Memory
    from bridge.round.round_data import RoundData
    from bridge.round.round_report import Course
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Topology
    from scheduler.packing.fleet import Ledger
    from scheduler.packing.job import Worker

STRATEGY = "packing"
_SHOWN = 3
_NEXT_ROUND = "not planned in time, goes on in the next round"


def is_large(request: PlanRequest, data: RoundData, settings: Settings) -> bool:
    """Whether a round is planned by counts of components.

    Args:
        request: The round.
        data: What is known of hosts.
        settings: The daemon's settings.
    """
    usable = sum(host.usable for host in data.hosts.hosts)
    executors = sum(
        topology.n_executors for topology in request.topologies if UNASSIGNED in topology.executor_supervisor
    )
    return len(data.hosts.hosts) > settings.network.max_hosts or executors * usable > settings.plan.max_pairs


def plan_large_round(
    request: PlanRequest, settings: Settings, data: RoundData, memory: Memory, course: Course
) -> Round:
    """Plan a large round.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
        data: What is known of hosts.
        memory: What the round before handed on; goes on to the next one as it is.
        course: Time of the round.
    """
    return _LargeRound(request, settings, data, course.expired).run(memory)


class _LargeRound:
    """One large round at work."""

    def __init__(
        self, request: PlanRequest, settings: Settings, data: RoundData, expired: Callable[[], bool]
    ) -> None:
        self._request = request
        self._data = data
        self._expired = expired
        self._wishes = [wishes_of(topology, settings.plan) for topology in request.topologies]
        self._capacity = settings.capacity

    @cached_property
    def _grounds(self) -> Grounds:
        """The supervisors; not looked at where nothing is missing."""
        return survey(self._request, self._data.hosts, self._capacity)

    def run(self, memory: Memory) -> Round:
        """Place what is missing."""
        plans, left_out, timed_out = self._place_missing()
        return Round(
            response=PlanResponse(
                self._request.version,
                self._request.round_id,
                self._in_order(plans, left_out),
                hold_ms=None if plans or left_out else HOLD_MS,
            ),
            memory=memory,
            known=self._data,
            setting_faults=tuple(
                (topology.id, faults)
                for topology, wishes in zip(self._request.topologies, self._wishes, strict=True)
                if (faults := wishes.faults)
            ),
            traces=(),
            left_out=tuple(left_out),
            waits=(),
            moves=0,
            restarts=0,
            timed_out=timed_out,
        )

    def _place_missing(self) -> tuple[dict[int, TopologyPlan], list[tuple[str, str]], bool]:
        """Return plans by topology, those left to Storm with the reason, and whether time ran out."""
        ranked = [
            index
            for index in by_rank(self._request.topologies, self._wishes)
            if UNASSIGNED in self._request.topologies[index].executor_supervisor
        ]
        if not ranked:
            return {}, [], False
        orders = [
            order_of(self._request, index, self._grounds, self._data.hosts, self._wishes[index])
            for index in ranked
        ]
        packing = Packer(
            self._grounds.fleet, [order.job for order in orders], self._grounds.soft, self._expired
        ).pack(self._grounds.free, self._grounds.slots)
        ports = [list(each) for each in self._grounds.ports]
        plans: dict[int, TopologyPlan] = {}
        left_out: list[tuple[str, str]] = []
        # The largest jobs come last: if none was finished, the next round would not come further either.
        stuck = not packing.complete and not any(packing.workers)
        for place, (order, workers) in enumerate(zip(orders, packing.workers, strict=True)):
            topology = self._request.topologies[order.index]
            if workers is not None:
                over = self._overloads(packing.ledger, workers) if place in packing.overloading else ""
                plans[order.index] = self._assigned(topology, order, workers, ports, over)
                continue
            refused = place in packing.refused
            room = why_no_room(self._grounds.fleet, packing.ledger, order.job, self._grounds.resources)
            reason = "; ".join(order.reasons) or (room if refused else _NEXT_ROUND)
            if stuck:
                left_out.append((topology.id, "no time left in this round"))
            else:
                plans[order.index] = self._plan(topology, Decision.UNPLACEABLE, f"not placed: {reason}")
        return plans, left_out, not packing.complete

    def _in_order(
        self, plans: dict[int, TopologyPlan], left_out: Sequence[tuple[str, str]]
    ) -> tuple[TopologyPlan, ...]:
        absent = {name for name, _ in left_out}
        return tuple(
            plans[index] if index in plans else self._plan(topology, Decision.KEEP, "kept: runs completely")
            for index, topology in enumerate(self._request.topologies)
            if topology.id not in absent
        )

    def _overloads(self, ledger: Ledger, workers: Sequence[Worker]) -> str:
        """Name hosts that carry more than they offer."""
        capacity = self._grounds.fleet.capacity
        nodes = sorted({worker.node for worker in workers})
        found = [
            f"{self._request.supervisors[node].host} at "
            f"{1 - ledger.free[node, column] / capacity[node, column]:.0%} of its {name}"
            for node in nodes
            for column, name in enumerate(self._grounds.resources)
            if ledger.free[node, column] < 0 < capacity[node, column]
        ]
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return f", above what is declared as it fits no other way ({', '.join(found[:_SHOWN])}{more})"

    def _assigned(
        self,
        topology: Topology,
        order: Order,
        workers: Sequence[Worker],
        ports: Sequence[list[int]],
        overload: str,
    ) -> TopologyPlan:
        slots = deal(topology, order, workers, ports)
        nodes = np.array([worker.node for worker in workers])
        spread = ", ".join(
            f"{count} {name}{'s' if count > 1 else ''}"
            for name, count in (
                ("worker", len(workers)),
                *((level.name, len(np.unique(level.group[nodes]))) for level in self._grounds.fleet.levels),
            )
        )
        status = f"placed by {STRATEGY}: {len(order.missing)} executors on {spread}{overload}"
        return self._plan(topology, Decision.ASSIGN, status, slots)

    def _plan(
        self, topology: Topology, decision: Decision, status: str, slots: Sequence[Slot] = ()
    ) -> TopologyPlan:
        return TopologyPlan(
            topology_id=topology.id,
            decision=decision,
            executor_supervisor=tuple(slot[0] for slot in slots),
            executor_port=tuple(slot[1] for slot in slots),
            status=status,
            strategy=STRATEGY,
            price=Price(0.0, 0, 0, 0) if decision is Decision.ASSIGN else None,
        )
