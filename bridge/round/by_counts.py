"""Topologies of a large round are placed by counts of components."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bridge.packing.dealing import deal
from bridge.packing.phrases import heap_overload, overloads, spread
from bridge.round.checks import PlanCheckError
from bridge.round.large_plans import STRATEGY
from bridge.round.status import worker_note
from formats.counted import counted
from scheduler.packing.pack import Packer
from scheduler.packing.reasons import why_no_room

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.packing.check import PlanCheck
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from bridge.problem.cpu_demand import CpuDemand
    from bridge.round.large_plans import LargePlans
    from bridge.round.round_report import Course
    from bridge.wire.messages import PlanRequest
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import BoolArray
    from scheduler.packing.pack import Packing


class ByCounts:
    """Places what is left of a large round.

    Args:
        request: The round.
        wishes: What each topology asks for.
        cpu: CPU that executors need, by topology id.
        plans: Takes the plans.
        course: Time of the round.
        limited: Whether bandwidths between sites are limited.
    """

    def __init__(
        self,
        request: PlanRequest,
        wishes: Sequence[Wishes],
        cpu: Mapping[str, CpuDemand],
        plans: LargePlans,
        course: Course,
        *,
        limited: bool,
    ) -> None:
        self._request = request
        self._wishes = wishes
        self._cpu = cpu
        self._plans = plans
        self._course = course
        self._limited = limited
        self.polished = True

    def place(self, orders: Sequence[Order], check: PlanCheck) -> list[int]:
        """Place topologies; return those for which there was no time.

        Args:
            orders: What is to be placed, in the order of who comes first.
            check: Knows what the plans so far leave, and takes what these use.
        """
        left = check.left
        jobs = [order.job for order in orders]
        packing = Packer(left.fleet, jobs, left.soft, self._course.expired).pack(left.free, left.slots)
        ports = [list(each) for each in left.ports]
        check.be_lenient(_overloaded(packing, left))
        late = []
        for place, order in enumerate(orders):
            if packing.workers[place] is not None:
                step = partial(self._assign, order, packing, place, left=left, ports=ports, check=check)
                self._plans.contained(order.index, step)
            elif place in packing.refused or order.reasons:
                names = self._request.topologies[order.index].component_names
                room = why_no_room(left.fleet, packing.ledger, order.job.loosest, left.resources, names)
                self._plans.refuse(order.index, "; ".join(order.reasons) or room)
            else:
                late.append(order.index)
        self.polished = packing.polished
        return late

    def _assign(
        self,
        order: Order,
        packing: Packing,
        place: int,
        *,
        left: Grounds,
        ports: Sequence[list[int]],
        check: PlanCheck,
    ) -> None:
        topology, wishes = self._request.topologies[order.index], self._wishes[order.index]
        workers, job = packing.workers[place] or (), packing.placed_as[place] or order.job
        slots = deal(topology, order, workers, ports)
        joining = any(each.joins is not None for each in workers)
        faults = check.take(replace(order, job=job), slots, joining=joining)
        if faults:
            raise PlanCheckError("; ".join(faults))
        asked = wishes.own.strategy
        author = f"{STRATEGY} (auto)" if asked == "auto" else f"{STRATEGY}, as the round is large for {asked}"
        notes = [
            f"placed by {author}: {counted(len(order.missing), 'executor')} on {spread(left, workers)}",
            worker_note(min(topology.num_workers, topology.n_executors), len(set(slots))),
            overloads(self._request, left, packing.ledger, workers) if place in packing.overloading else "",
            heap_overload(order.job, workers),
        ]
        notes.extend(self._unheeded(wishes))
        demand = self._cpu.get(topology.id)
        if demand is not None:
            notes.append(f"; {demand.summary}")
        self._plans.place(order.index, "".join(notes), slots)

    def _unheeded(self, wishes: Wishes) -> list[str]:
        """Name what a topology asks for and counts do not look at, one phrase each."""
        own = wishes.own
        ignored = [
            *(["costs"] if own.weighs_costs else []),
            *(["colocate"] if own.colocate else []),
            *(["origin and destination"] if own.ends_outside else []),
            *(["bandwidths between sites"] if self._limited else []),
        ]
        return [f"; {', '.join(ignored)} do not count, as the round is large"] if ignored else []


def _overloaded(packing: Packing, grounds: Grounds) -> BoolArray:
    """(n_supervisors,) those where a topology was placed above what is declared."""
    nodes = [worker.node for index in packing.overloading for worker in packing.workers[index] or ()]
    return np.isin(np.arange(len(grounds.ports)), nodes)
