"""A round that is too large for placing executors one by one: counts of components go to supervisors.

What runs stays as it is, but for executors whose pin or avoidance is broken and for workers that lost
executors join where no slot is left. What counts is whether executors share a worker, a host, a rack, and how
far apart sites are; topologies that are small enough are looked at by the delays between hosts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from bridge.network.site_distances import site_steps
from bridge.packing.check import PlanCheck
from bridge.packing.grounds import survey
from bridge.packing.jobs import order_of
from bridge.problem.isolation import isolate
from bridge.problem.links.bandwidth_book import BandwidthBook
from bridge.problem.links.traffic import sending
from bridge.problem.permits import permits_of
from bridge.problem.ranking import rank
from bridge.round.by_counts import ByCounts
from bridge.round.close_up import CloseUps
from bridge.round.large_plans import STRATEGY, LargePlans
from bridge.round.mending import mend_pins
from bridge.round.restart_budgets import restarted_by
from bridge.round.round_report import HOLD_MS, Round
from bridge.round.scale import broken_pins, suits_a_close_up
from bridge.wire.messages import UNASSIGNED, Decision, PlanResponse
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.problem.isolation import Isolation
    from bridge.problem.links.bandwidth_book import Elsewhere
    from bridge.problem.links.traffic import Sending
    from bridge.problem.permits import Permits
    from bridge.problem.ranking import Ranking
    from bridge.round.memory import Memory, Prepared
    from bridge.round.round_data import RoundData
    from bridge.round.round_report import Course
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, TopologyPlan

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
        self._wishes = data.wishes
        self._settings = settings
        self._plans = LargePlans(request, self._wishes)
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

    @cached_property
    def _check(self) -> PlanCheck:
        return PlanCheck(self._request, self._grounds)

    def run(self, memory: Memory) -> Round:
        """Place what is missing, then mend what runs where it may not."""
        self._place_missing({each.id: each for each in memory.prepared})
        settings, half = self._after_placing()
        looked_at_all = mend_pins(
            self._request,
            settings,
            self._data.cpu,
            broken_pins(self._request, self._wishes, self._data, self._settings),
            self._order_of,
            plans=self._plans,
            check=lambda: self._check,
            course=half,
            links=self._data.site_links,
            sent_beside=self._sent_beside,
        )
        plans = self._plans
        # What found no room finds none either while nothing changes.
        lasting = looked_at_all and not (plans.assigned or plans.left_out or self._timed_out)
        return Round(
            response=PlanResponse(
                self._request.version,
                self._request.round_id,
                plans.in_order(self._isolation.notes),
                hold_ms=HOLD_MS if lasting else None,
            ),
            memory=memory.unwatched,
            known=self._data,
            setting_faults=tuple(
                (topology.id, faults)
                for topology, wishes in zip(self._request.topologies, self._wishes, strict=True)
                if (faults := wishes.faults)
            ),
            traces=tuple(plans.traces),
            left_out=tuple(plans.left_out.items()),
            waits=(),
            moves=plans.moves,
            restarts=plans.restarts,
            timed_out=self._timed_out,
            unfinished=self._unfinished,
        )

    def _after_placing(self) -> tuple[Settings, Course]:
        """Return settings and time for what has to move besides, within what may still restart."""
        settings, course, plans = self._settings, self._course.half(), self._plans
        if not plans.restarts:
            return settings, course
        left = max(settings.move.max_restarts_per_round - plans.restarts, 0)
        move = settings.move.model_copy(update={"max_restarts_per_round": left})
        if course.budgets.counts:
            sites = self._data.hosts.site_of_supervisor
            restarted = restarted_by(self._request, plans.plans.values(), sites)
            course = replace(course, budgets=course.budgets.after(restarted))
        return settings.model_copy(update={"move": move}), course

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
            self._put_off(self._place(ranked, prepared))

    def _place(self, ranked: Sequence[int], prepared: Mapping[str, Prepared]) -> list[int]:
        """Plan topologies in their order; return those for which there was no time."""
        topologies = self._request.topologies
        for index in ranked:
            if topologies[index].id in prepared and not self._course.expired():
                self._hand_over(index, prepared[topologies[index].id])
        orders = []
        late: list[int] = []
        half = self._course.half()
        close = CloseUps(
            self._request,
            self._settings,
            self._data.cpu,
            self._check,
            half,
            links=self._data.site_links,
            sent_beside=self._sent_beside,
        )
        for index in ranked:
            if index in self._plans.plans or topologies[index].id in self._plans.left_out:
                continue
            if late or half.expired():
                # Describing them all would leave no time to place any.
                late.append(index)
                continue
            order = self._plans.contained(index, partial(self._order_of, index))
            if order is None:
                continue
            plan = self._close_up(order, close)
            if plan is None:
                orders.append(order)
            else:
                self._plans.take(index, plan)
        self._plans.traces.extend(close.traces)
        counting = ByCounts(
            self._request,
            self._wishes,
            self._data.cpu,
            self._plans,
            self._course,
            limited=self._data.site_links.limited,
        )
        late += counting.place(orders, self._check)
        self._timed_out |= not counting.polished
        return late

    def _close_up(self, order: Order, close: CloseUps) -> TopologyPlan | None:
        """Plan a topology by response time; None if it is to be placed by counts."""
        if not suits_a_close_up(self._request.topologies[order.index], order, self._data, self._settings):
            return None
        plan = self._plans.tried(order.index, partial(close.plan, order.index, order=order, moving=False))
        return plan if plan is not None and plan.decision is Decision.ASSIGN else None

    def _put_off(self, indices: Sequence[int]) -> None:
        """Leave topologies without time to the next round, or to Storm if that would come no further."""
        self._timed_out |= bool(indices)
        self._unfinished |= bool(indices)
        stuck = not self._plans.assigned
        for index in indices:
            if stuck:
                self._plans.left_out[self._request.topologies[index].id] = "no time left in this round"
            else:
                self._plans.refuse(index, _NEXT_ROUND)

    def _hand_over(self, index: int, plan: Prepared) -> None:
        """Take a plan that was made since the round before, if it still fits."""
        order = self._plans.contained(index, partial(self._order_of, index))
        if order is None or any(each not in self._position for each in plan.supervisors):
            return
        slots = tuple(zip((self._position[each] for each in plan.supervisors), plan.ports, strict=True))
        if self._plans.tried(index, partial(self._check.take, order, slots, joining=True)) == ():
            executors = counted(len(order.missing), "executor")
            status = f"placed by {STRATEGY}: {executors}, planned since the round before"
            self._plans.place(index, status, slots)

    def _sent_beside(self, index: int) -> Elsewhere | None:
        """Return what other topologies send, None if no bandwidth is limited."""
        return self._book.sent_by_others(index) if self._data.site_links.limited else None

    @cached_property
    def _book(self) -> BandwidthBook:
        data, topologies = self._data, self._request.topologies

        def supervisors_of(index: int) -> tuple[int, ...]:
            plan = self._plans.plans.get(index)
            assigned = plan is not None and plan.decision is Decision.ASSIGN
            return plan.executor_supervisor if plan and assigned else topologies[index].executor_supervisor

        def sending_of(index: int) -> Sending:
            measured = data.rates.by_topology.get(topologies[index].id)
            return sending(topologies[index], self._wishes[index].own, self._settings.plan, measured)

        return BandwidthBook(
            data.site_links,
            data.hosts.host_of_supervisor,
            len(topologies),
            supervisors_of,
            sending_of,
            ends_outside=lambda index: self._wishes[index].own.ends_outside,
            changed=self._plans.changed,
        )

    @cached_property
    def _position(self) -> dict[str, int]:
        return {each.id: index for index, each in enumerate(self._request.supervisors)}

    def _order_of(self, index: int) -> Order:
        hosts, wishes = self._data.hosts, self._wishes[index]
        # Strict is what the resource-aware scheduler does; heap is as hard there as what hosts offer.
        soft = self._settings.capacity.resources != "strict"
        permits = self._permits(index)
        return order_of(self._request, index, self._grounds, hosts, wishes, permits=permits, soft_heap=soft)

    def _permits(self, index: int) -> Permits | None:
        """Where a topology may run, None if that is on every host."""
        topology, own = self._request.topologies[index], self._wishes[index].own
        if not (own.names_places or self._isolation.concerns(index)):
            return None
        permits = permits_of(topology, own, self._data.hosts.hosts)
        return self._isolation.narrow(index, topology, permits, self._settings.plan)
