"""Executors that lost their slots by Nimbus' doing, not by a fault, get them back.

A rebalance hides the running assignment for one round. Executors whose last slots are free and may be used
are planned as if they ran there: nothing moves that need not move, and what no longer fits leaves under the
same rules as ever. A worker that died is not among them: Storm hides its port in that round. Executors that
RAS constraints would not let into their last worker or onto its node are placed anew: a rebalance is how a
user changes such a constraint.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of, restarted_workers
from bridge.problem.node_limits import apart_of, node_limits
from bridge.wire.messages import UNASSIGNED, Decision, Price
from bridge.wishes.storm_settings import parse_storm_settings
from scheduler.packing.job import WorkerRules

if TYPE_CHECKING:
    from bridge.wire.messages import PlanRequest, PlanResponse, Topology, TopologyPlan

_Slot = tuple[int, int]


def with_last_slots(request: PlanRequest, but: frozenset[str] = frozenset()) -> PlanRequest:
    """Return the request with executors in their last slots, as far as these are free and usable.

    Args:
        request: The round as the shim sees it.
        but: Ids of topologies that are left as they are.

    Returns:
        The request itself if no executor gets its slot back.
    """
    if all(topology.last_supervisor is None for topology in request.topologies):
        return request
    holder: dict[_Slot, str] = {}
    for topology in request.topologies:
        slots = zip(topology.executor_supervisor, topology.executor_port, strict=True)
        holder.update(dict.fromkeys((slot for slot in slots if slot[0] != UNASSIGNED), topology.id))
    restored = []
    for topology in sorted(request.topologies, key=lambda each: each.id):
        back = topology if topology.id in but else _restored(request, topology, holder)
        slots = zip(back.executor_supervisor, back.executor_port, strict=True)
        holder.update(dict.fromkeys((slot for slot in slots if slot[0] != UNASSIGNED), topology.id))
        restored.append(back)
    by_id = {topology.id: topology for topology in restored}
    if all(by_id[topology.id] is topology for topology in request.topologies):
        return request
    return replace(request, topologies=tuple(by_id[topology.id] for topology in request.topologies))


def _restored(request: PlanRequest, topology: Topology, holder: dict[_Slot, str]) -> Topology:
    if topology.last_supervisor is None or topology.last_port is None:
        return topology
    slots = list(zip(topology.executor_supervisor, topology.executor_port, strict=True))
    last = zip(topology.last_supervisor, topology.last_port, strict=True)
    try:
        constraints = _Constraints(topology)
    except Exception:  # noqa: BLE001  # one topology's fault must not cost the others; planning it names it
        return topology
    for executor, slot in enumerate(slots):
        if slot[0] != UNASSIGNED:
            constraints.add(executor, slot)
    for executor, slot in enumerate(last):
        if slots[executor][0] != UNASSIGNED or not 0 <= slot[0] < len(request.supervisors):
            continue
        supervisor = request.supervisors[slot[0]]
        free = holder.get(slot, topology.id) == topology.id
        open_to = free and supervisor.usable and slot[1] in supervisor.ports
        if open_to and constraints.allow(executor, slot):
            constraints.add(executor, slot)
            slots[executor] = slot
    supervisors = tuple(slot[0] for slot in slots)
    if supervisors == tuple(topology.executor_supervisor):
        return topology
    return replace(topology, executor_supervisor=supervisors, executor_port=tuple(slot[1] for slot in slots))


class _Constraints:
    """The RAS constraints of a topology beside the executors that have slots so far."""

    def __init__(self, topology: Topology) -> None:
        storm = parse_storm_settings(topology.storm_json, topology.component_names)
        limits = node_limits(topology, storm)
        self._apart = WorkerRules(apart=apart_of(topology, storm))
        self._most = None if limits is None else limits.tolist()
        self._component = topology.executor_component
        self._workers: dict[_Slot, set[int]] = {}
        self._on_node: Counter[tuple[int, int]] = Counter()

    def allow(self, executor: int, slot: _Slot) -> bool:
        component = self._component[executor]
        if self._most is not None and self._on_node[slot[0], component] >= self._most[component]:
            return False
        return self._apart.allow(component, self._workers.get(slot, ()))

    def add(self, executor: int, slot: _Slot) -> None:
        component = self._component[executor]
        self._workers.setdefault(slot, set()).add(component)
        self._on_node[slot[0], component] += 1


def carried_over(request: PlanRequest, planned: PlanRequest, response: PlanResponse) -> PlanResponse:
    """Return the response with assignments for topologies that a plan keeps where Nimbus does not see them.

    Args:
        request: The round as the shim sees it.
        planned: The round as it was planned.
        response: Its plans.
    """
    before = {topology.id: topology for topology in request.topologies}
    after = {topology.id: topology for topology in planned.topologies}
    plans = tuple(
        _carried(plan, before[plan.topology_id], after[plan.topology_id]) for plan in response.plans
    )
    changed = any(new is not old for new, old in zip(plans, response.plans, strict=True))
    return replace(response, plans=plans, hold_ms=None if changed else response.hold_ms)


def priced(planned: PlanRequest, response: PlanResponse) -> PlanResponse:
    """Return the response with prices against the last slots, for a plan that was made without them.

    Args:
        planned: The round with executors in their last slots.
        response: Plans of the round without them.
    """
    before = {topology.id: topology for topology in planned.topologies}
    return replace(response, plans=tuple(_priced(plan, before[plan.topology_id]) for plan in response.plans))


def _priced(plan: TopologyPlan, topology: Topology) -> TopologyPlan:
    if plan.price is None:
        return plan
    before = assignment_of(topology)
    after = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    moved = sum(old is not None and old != new for old, new in zip(before, after, strict=True))
    restarted = restarted_workers(before, after)
    price = replace(
        plan.price,
        executors_moved=moved,
        workers_moved=len(restarted),
        executors_restarted=sum(map(len, restarted)),
    )
    return replace(plan, price=price)


def stuck(request: PlanRequest, planned: PlanRequest, response: PlanResponse) -> frozenset[str]:
    """Return the ids of topologies that got slots back and are not placed.

    Args:
        request: The round as the shim sees it.
        planned: The round as it was planned.
        response: Its plans.
    """
    pairs = zip(request.topologies, planned.topologies, strict=True)
    back = {before.id for before, after in pairs if after is not before}
    refused = (plan for plan in response.plans if plan.decision is Decision.UNPLACEABLE)
    return frozenset(plan.topology_id for plan in refused if plan.topology_id in back)


def _carried(plan: TopologyPlan, before: Topology, after: Topology) -> TopologyPlan:
    missing = UNASSIGNED in before.executor_supervisor
    if plan.decision is not Decision.KEEP or not missing:
        return plan
    return replace(
        plan,
        decision=Decision.ASSIGN,
        executor_supervisor=after.executor_supervisor,
        executor_port=after.executor_port,
        status=f"back in its last slots; {plan.status}",
        price=Price(0.0, 0, 0, 0),
    )
