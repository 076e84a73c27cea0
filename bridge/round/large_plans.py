"""What a large round has decided so far: a plan per topology, or why it is left to Storm's own scheduler."""

from __future__ import annotations

import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from bridge.problem.assignment import assignment_of, restarted_workers
from bridge.round.status import ignored_settings
from bridge.wire.messages import Decision, Price, TopologyPlan
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bridge.network.cluster import Slot
    from bridge.wire.messages import PlanRequest
    from bridge.wishes.wishes import Wishes

STRATEGY = "packing"
_T = TypeVar("_T")


class LargePlans:
    """Plans of a large round by topology.

    Args:
        request: The round.
        wishes: What each topology asks for.

    Attributes:
        plans: Plan by position of the topology.
        left_out: Why Storm's own scheduler gets it, by topology id.
        traces: Topology id and traceback of what failed.
        changed: Positions of topologies in the order of their plans.
    """

    def __init__(self, request: PlanRequest, wishes: Sequence[Wishes]) -> None:
        self.plans: dict[int, TopologyPlan] = {}
        self.left_out: dict[str, str] = {}
        self.traces: list[tuple[str, str]] = []
        self.changed: list[int] = []
        self._request = request
        self._wishes = wishes

    @property
    def assigned(self) -> bool:
        """Whether any topology changes."""
        return any(plan.decision is Decision.ASSIGN for plan in self.plans.values())

    @property
    def moves(self) -> int:
        """Executors that move."""
        return sum(plan.price.executors_moved for plan in self.plans.values() if plan.price)

    @property
    def restarts(self) -> int:
        """Executors that restart."""
        return sum(plan.price.executors_restarted or 0 for plan in self.plans.values() if plan.price)

    def take(self, index: int, plan: TopologyPlan) -> None:
        """Take a plan that was made elsewhere."""
        self.plans[index] = plan
        self.changed.append(index)

    def refuse(self, index: int, reason: str) -> None:
        """Say that a topology finds no place."""
        self.plans[index] = self._plan(index, Decision.UNPLACEABLE, f"not placed: {reason}")

    def keep(self, index: int, why: str) -> None:
        """Say that a topology stays as it is, and why."""
        self.plans[index] = self._plan(index, Decision.KEEP, why)

    def place(self, index: int, status: str, slots: Sequence[Slot]) -> None:
        """Give a topology its slots.

        Args:
            index: Its position.
            status: What its status line says of that.
            slots: Slot per executor.
        """
        before = assignment_of(self._request.topologies[index])
        restarted = restarted_workers(before, slots)
        moved = sum(old is not None and old != new for old, new in zip(before, slots, strict=True))
        executors = sum(map(len, restarted))
        if executors:
            status += f"; restarts {counted(executors, 'executor')}, as no free slot has room"
        price = Price(0.0, moved, len(restarted), executors)
        self.take(index, self._plan(index, Decision.ASSIGN, status, slots, price))

    def tried(self, index: int, step: Callable[[], _T]) -> _T | None:
        """Try what may fail, as the topology can still be placed otherwise; the log has the trace."""
        try:
            return step()
        except Exception:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            self.traces.append((self._request.topologies[index].id, traceback.format_exc()))
            return None

    def contained(self, index: int, step: Callable[[], _T]) -> _T | None:
        """Take a step for one topology; whatever goes wrong leaves this one to Storm's own scheduler."""
        try:
            return step()
        except Exception as error:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            topology = self._request.topologies[index]
            self.traces.append((topology.id, traceback.format_exc()))
            self.left_out[topology.id] = f"planning failed ({type(error).__name__}: {error})"
            return None

    def in_order(self, notes: Mapping[int, str]) -> tuple[TopologyPlan, ...]:
        """Return all plans in the order of the request, what is not mentioned kept.

        Args:
            notes: What status lines say besides, by position of the topology.
        """
        plans = [
            (index, self.plans.get(index) or self._plan(index, Decision.KEEP, "kept: runs completely"))
            for index, topology in enumerate(self._request.topologies)
            if topology.id not in self.left_out
        ]
        return tuple(
            replace(plan, status=f"{plan.status}; {notes[index]}") if index in notes else plan
            for index, plan in plans
        )

    def _plan(
        self,
        index: int,
        decision: Decision,
        status: str,
        slots: Sequence[Slot] = (),
        price: Price | None = None,
    ) -> TopologyPlan:
        return TopologyPlan(
            topology_id=self._request.topologies[index].id,
            decision=decision,
            executor_supervisor=tuple(slot[0] for slot in slots),
            executor_port=tuple(slot[1] for slot in slots),
            # One line, whatever values users put into their settings.
            status=" ".join("; ".join([status, *ignored_settings(self._wishes[index])]).split()),
            strategy=STRATEGY,
            price=price,
        )
