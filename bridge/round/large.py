"""A round that is too large for placing executors one by one: counts of components go to supervisors.

Only executors without a slot are placed; what runs stays as it is. What counts is not the delay between hosts
but whether executors share a worker, a host, a rack, a site.
"""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bridge.network.site_distances import site_steps
from bridge.packing.check import PlanCheck
from bridge.packing.dealing import deal
from bridge.packing.grounds import survey
from bridge.packing.jobs import order_of
from bridge.packing.phrases import overloads, spread
from bridge.problem.isolation import isolate
from bridge.problem.permits import permits_of
from bridge.problem.ranking import rank
from bridge.problem.wishes import wishes_of
from bridge.round.checks import PlanCheckError
from bridge.round.close_up import CloseUps
from bridge.round.round_report import HOLD_MS, Round
from bridge.round.scale import broken_pins, suits_a_close_up
from bridge.round.status import ignored_settings
from bridge.wire.messages import UNASSIGNED, Decision, PlanResponse, Price, TopologyPlan
from scheduler.packing.pack import Packer
from scheduler.packing.reasons import why_no_room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bridge.network.cluster import Slot
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.problem.isolation import Isolation
    from bridge.problem.permits import Permits
    from bridge.problem.ranking import Ranking
    from bridge.round.memory import Memory, Prepared
    from bridge.round.round_data import RoundData
    from bridge.round.round_report import Course
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, Topology
    from scheduler.base.arrays import BoolArray
    from scheduler.packing.job import Worker
    from scheduler.packing.pack import Packing

STRATEGY = "packing"
_T = TypeVar("_T")
_NEXT_ROUND = "not planned in time, goes on in the next round"


def plan_large_round(
    request: PlanRequest, settings: Settings, data: RoundData, memory: Memory, course: Course
) -> Round:
    """Plan a large round.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
        data: What is known of hosts.
        memory: What the round before handed on.
        course: Time of the round.
    """
    return _LargeRound(request, settings, data, course).run(memory)


class _LargeRound:
    """One large round at work."""

    def __init__(self, request: PlanRequest, settings: Settings, data: RoundData, course: Course) -> None:
        self._request = request
        self._data = data
        self._course = course
        self._wishes = [wishes_of(topology, settings.plan) for topology in request.topologies]
        self._ignored = {
            topology.id: ignored_settings(wishes)
            for topology, wishes in zip(request.topologies, self._wishes, strict=True)
        }
        self._settings = settings
        self._plans: dict[int, TopologyPlan] = {}
        self._left_out: dict[str, str] = {}
        self._traces: list[tuple[str, str]] = []
        self._timed_out = self._unfinished = False

    @cached_property
    def _ranking(self) -> Ranking:
        return rank(self._request, self._wishes, self._data.cluster)

    @cached_property
    def _isolation(self) -> Isolation:
        order, cluster = self._ranking.order, self._data.cluster
        return isolate(self._request, self._data.hosts, self._wishes, order, cluster)

    @cached_property
    def _grounds(self) -> Grounds:
        """The supervisors; not looked at where nothing is missing.

        What fails here concerns all topologies.
        """
        data = self._data
        steps = partial(site_steps, data.delays, data.located, settings=self._settings.network)
        return survey(self._request, data.hosts, self._settings.capacity, steps)

    def run(self, memory: Memory) -> Round:
        """Place what is missing."""
        self._place_missing({each.id: each for each in memory.prepared})
        return Round(
            response=PlanResponse(
                self._request.version,
                self._request.round_id,
                self._in_order(),
                hold_ms=None if self._left_out or not self._all_kept else HOLD_MS,
            ),
            memory=memory.unwatched,
            known=self._data,
            setting_faults=tuple(
                (topology.id, faults)
                for topology, wishes in zip(self._request.topologies, self._wishes, strict=True)
                if (faults := wishes.faults)
            ),
            traces=tuple(self._traces),
            left_out=tuple(self._left_out.items()),
            waits=(),
            moves=sum(plan.price.executors_moved for plan in self._plans.values() if plan.price),
            restarts=sum(plan.price.executors_restarted or 0 for plan in self._plans.values() if plan.price),
            timed_out=self._timed_out,
            unfinished=self._unfinished,
        )

    @property
    def _all_kept(self) -> bool:
        """Whether nothing changes: a broken pin that cannot be mended waits for a change of the cluster."""
        return all(plan.decision is Decision.KEEP for plan in self._plans.values())

    def _place_missing(self, prepared: Mapping[str, Prepared]) -> None:
        """Plan the topologies that lack something.

        Args:
            prepared: Plans that were made since the round before, by topology id.
        """
        ranked = [
            index
            for index in self._ranking.order
            if UNASSIGNED in self._request.topologies[index].executor_supervisor
        ]
        if ranked:
            check = PlanCheck(self._request, self._grounds)
            self._put_off(self._place(ranked, prepared, check))
        self._mend_pins()

    def _place(self, ranked: Sequence[int], prepared: Mapping[str, Prepared], check: PlanCheck) -> list[int]:
        """Plan topologies in their order; return those for which there was no time."""
        orders = []
        late: list[int] = []
        half = self._course.half()
        close = CloseUps(self._request, self._settings, self._data.cpu, check, half)
        for index in ranked:
            if late or half.expired():
                # Describing them all would leave no time to place any.
                late.append(index)
                continue
            order = self._contained(index, self._order_of)
            if order is None:
                continue
            plan_before = prepared.get(self._request.topologies[index].id)
            plan = None
            if plan_before is not None:
                plan = self._tried(index, partial(self._prepared, order, plan_before, check))
            topology = self._request.topologies[index]
            if plan is None and suits_a_close_up(topology, order, self._data, self._settings):
                plan = self._tried(index, partial(close.plan, index, order=order, moving=False))
            if plan is not None and plan.decision is Decision.ASSIGN:
                self._plans[index] = plan
            else:
                orders.append(order)
        self._traces.extend(close.traces)
        return [*late, *self._pack(orders, check)]

    def _mend_pins(self) -> None:
        """Move executors of one topology from where a pin or avoidance forbids them, if there is time."""
        half = self._course.half()
        for index in broken_pins(self._request, self._wishes, self._data, self._settings):
            if half.expired():
                break
            if index in self._plans or self._request.topologies[index].id in self._left_out:
                continue
            # What the plans of this round take is not known to this one: the next round is early enough.
            if any(plan.decision is Decision.ASSIGN for plan in self._plans.values()):
                break
            check = PlanCheck(self._request, self._grounds)
            close = CloseUps(self._request, self._settings, self._data.cpu, check, half)
            order = self._tried(index, partial(self._order_of, index))
            if order is None:
                continue
            plan = self._tried(index, partial(close.plan, index, order=order, moving=True))
            self._traces.extend(close.traces)
            if plan is not None:
                self._plans[index] = plan
            if plan is not None and plan.decision is Decision.ASSIGN:
                break

    def _put_off(self, indices: Sequence[int]) -> None:
        """Leave topologies without time to the next round, or to Storm if that would come no further."""
        self._timed_out |= bool(indices)
        self._unfinished |= bool(indices)
        stuck = all(plan.decision is not Decision.ASSIGN for plan in self._plans.values())
        for index in indices:
            topology = self._request.topologies[index]
            if stuck:
                self._left_out[topology.id] = "no time left in this round"
            else:
                self._plans[index] = self._plan(topology, Decision.UNPLACEABLE, f"not placed: {_NEXT_ROUND}")

    def _prepared(self, order: Order, prepared: Prepared, check: PlanCheck) -> TopologyPlan | None:
        """Return a plan that was made since the round before, None if it does not fit any more."""
        topology = self._request.topologies[order.index]
        if any(each not in self._position for each in prepared.supervisors):
            return None
        where = (self._position[each] for each in prepared.supervisors)
        slots = tuple(zip(where, prepared.ports, strict=True))
        if check.take(order, slots):
            return None
        status = f"placed by {STRATEGY}: {len(order.missing)} executors, planned since the round before"
        return self._plan(topology, Decision.ASSIGN, status, slots)

    def _tried(self, index: int, step: Callable[[], _T]) -> _T | None:
        """Try what may fail, as the topology can still be placed otherwise; the log has the trace."""
        try:
            return step()
        except Exception:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            self._traces.append((self._request.topologies[index].id, traceback.format_exc()))
            return None

    @cached_property
    def _position(self) -> dict[str, int]:
        return {each.id: index for index, each in enumerate(self._request.supervisors)}

    def _pack(self, orders: Sequence[Order], check: PlanCheck) -> list[int]:
        """Place by counts what is left; return the topologies for which there was no time."""
        left = check.left
        jobs = [order.job for order in orders]
        packing = Packer(left.fleet, jobs, left.soft, self._course.expired).pack(left.free, left.slots)
        ports = [list(each) for each in left.ports]
        check.be_lenient(_overloaded(packing, left))
        late = []
        for place, (order, workers) in enumerate(zip(orders, packing.workers, strict=True)):
            topology = self._request.topologies[order.index]
            if workers is not None:
                over = (
                    overloads(self._request, left, packing.ledger, workers)
                    if place in packing.overloading
                    else ""
                )
                step = partial(self._assigned, workers=workers, ports=ports, check=check, over=over)
                plan = self._contained(order.index, partial(step, order=order))
                if plan is not None:
                    self._plans[order.index] = plan
                continue
            if place not in packing.refused and not order.reasons:
                late.append(order.index)
                continue
            names = topology.component_names
            room = why_no_room(left.fleet, packing.ledger, order.job, left.resources, names)
            reason = "; ".join(order.reasons) or room
            self._plans[order.index] = self._plan(topology, Decision.UNPLACEABLE, f"not placed: {reason}")
        self._timed_out |= not packing.polished
        return late

    def _order_of(self, index: int) -> Order:
        hosts, wishes = self._data.hosts, self._wishes[index]
        return order_of(self._request, index, self._grounds, hosts, wishes, permits=self._permits(index))

    def _permits(self, index: int) -> Permits | None:
        """Where a topology may run, None if that is on every host."""
        topology, own = self._request.topologies[index], self._wishes[index].own
        if not (own.pin or own.avoid or self._isolation.concerns(index)):
            return None
        permits = permits_of(topology, own, self._data.hosts.hosts)
        return self._isolation.narrow(index, topology, permits, self._settings.plan)

    def _contained(self, index: int, step: Callable[[int], _T]) -> _T | None:
        """Take a step for one topology; whatever goes wrong leaves this one to Storm's own scheduler."""
        try:
            return step(index)
        except Exception as error:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            topology = self._request.topologies[index]
            self._traces.append((topology.id, traceback.format_exc()))
            self._left_out[topology.id] = f"planning failed ({type(error).__name__}: {error})"
            return None

    def _in_order(self) -> tuple[TopologyPlan, ...]:
        notes = self._isolation.notes
        plans = [
            (index, self._plans.get(index) or self._plan(topology, Decision.KEEP, "kept: runs completely"))
            for index, topology in enumerate(self._request.topologies)
            if topology.id not in self._left_out
        ]
        return tuple(
            replace(plan, status=f"{plan.status}; {notes[index]}") if index in notes else plan
            for index, plan in plans
        )

    def _assigned(
        self,
        index: int,
        *,
        order: Order,
        workers: Sequence[Worker],
        ports: Sequence[list[int]],
        check: PlanCheck,
        over: str,
    ) -> TopologyPlan:
        topology = self._request.topologies[index]
        slots = deal(topology, order, workers, ports)
        faults = check.take(order, slots)
        if faults:
            raise PlanCheckError("; ".join(faults))
        asked = self._wishes[index].own.strategy
        author = f"{STRATEGY} (auto)" if asked == "auto" else f"{STRATEGY}, as the round is large for {asked}"
        demand = self._data.cpu.get(topology.id)
        cpu = "" if demand is None else f"; {demand.summary}"
        where = spread(self._grounds, workers)
        status = f"placed by {author}: {len(order.missing)} executors on {where}{over}{cpu}"
        return self._plan(topology, Decision.ASSIGN, status, slots)

    def _plan(
        self, topology: Topology, decision: Decision, status: str, slots: Sequence[Slot] = ()
    ) -> TopologyPlan:
        return TopologyPlan(
            topology_id=topology.id,
            decision=decision,
            executor_supervisor=tuple(slot[0] for slot in slots),
            executor_port=tuple(slot[1] for slot in slots),
            # One line, whatever values users put into their settings.
            status=" ".join("; ".join([status, *self._ignored.get(topology.id, ())]).split()),
            strategy=STRATEGY,
            price=Price(0.0, 0, 0, 0) if decision is Decision.ASSIGN else None,
        )


def _overloaded(packing: Packing, grounds: Grounds) -> BoolArray:
    """(n_supervisors,) those where a topology was placed above what is declared."""
    nodes = [worker.node for index in packing.overloading for worker in packing.workers[index] or ()]
    return np.isin(np.arange(len(grounds.ports)), nodes)
