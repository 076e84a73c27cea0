"""Topologies that find no room get that of others that come after them, where `plan.evict` allows it.

A round is planned first as if none could be evicted. Whether a topology would fit without some others is then
found out by planning it alone beside those that stay, with all that they have after that plan frozen. So all
rules of placing hold, whichever way the round is planned, and nothing is evicted in vain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of
from bridge.problem.cpu_demand import with_cpu
from bridge.problem.ranking import rank
from bridge.round.standing import standing
from bridge.wire.messages import Decision, TopologyPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.assignment import Assignment
    from bridge.round.memory import Memory
    from bridge.round.round_report import Round
    from bridge.settings import PlanSettings
    from bridge.wire.messages import PlanRequest, Topology

_STRATEGY = "none"
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class _Trial:
    """A topology that fits without some others.

    Attributes:
        plan: Its plan.
        memory: What is remembered of that plan.
        without: Positions of the others.
    """

    plan: TopologyPlan
    memory: Memory
    without: tuple[int, ...]


def with_evictions(
    request: PlanRequest,
    done: Round,
    settings: PlanSettings,
    plan: Callable[[PlanRequest], Round],
    expired: Callable[[], bool],
) -> Round:
    """Return the round with plans for topologies that found no room, and with those that go for them.

    Those that go are taken from the end of the order, as few as possible; what is frozen stays. Time that
    runs out may leave more of them than needed, all of them on hosts that the topology gets.

    Args:
        request: The round.
        done: What came out of it without evictions.
        settings: How plans are made.
        plan: Plans a round without evictions.
        expired: Whether the round's time is over.
    """
    refused = any(each.decision is Decision.UNPLACEABLE for each in done.response.plans)
    # A shim that sends no keys of Nimbus would not free the slots.
    if not settings.evict or request.cluster_json is None or not refused or done.unfinished:
        return done
    return _Evictions(request, done, plan, expired).run()


class _Evictions:
    """The evictions of one round at work."""

    def __init__(
        self,
        request: PlanRequest,
        done: Round,
        plan: Callable[[PlanRequest], Round],
        expired: Callable[[], bool],
    ) -> None:
        self._request = request
        self._done = done
        self._plan = plan
        self._expired = expired
        self._wishes = done.known.wishes
        self._ranking = rank(with_cpu(request, done.known.cpu), self._wishes, done.known.cluster)
        self._plans = {each.topology_id: each for each in done.response.plans}
        self._slots = [self._after(topology) for topology in request.topologies]
        self._gone: set[int] = set()

    def run(self) -> Round:
        """Find room for each topology that has none, the first one first."""
        memory = {each.id: each for each in self._done.memory.topologies}
        for index in self._ranking.order:
            topology = self._request.topologies[index]
            plan = self._plans.get(topology.id)
            refused = plan is not None and plan.decision is Decision.UNPLACEABLE
            if not refused or index in self._gone or topology.status == "KILLED":
                continue
            found = self._fit(index, self._candidates(index))
            if found is not None:
                self._carry_out(index, found)
                memory |= {each.id: each for each in found.memory.topologies if each.id == topology.id}
        lasting = not (self._gone or self._expired())
        return replace(
            self._done,
            response=replace(
                self._done.response,
                plans=tuple(self._plans[each.topology_id] for each in self._done.response.plans),
                hold_ms=self._done.response.hold_ms if lasting else None,
            ),
            memory=replace(self._done.memory, topologies=tuple(memory[each] for each in sorted(memory))),
            timed_out=self._done.timed_out or self._expired(),
        )

    def _candidates(self, index: int) -> list[int]:
        """Return topologies that have slots and would give way, the last one first."""
        return [
            other
            for other in reversed(self._ranking.order)
            if self._ranking.gives_way(other, to=index)
            and self._request.topologies[other].id in self._plans
            and any(self._slots[other])
            and not self._wishes[other].own.frozen
        ]

    def _fit(self, index: int, candidates: Sequence[int]) -> _Trial | None:
        """Return a plan without as few of the candidates as possible, None if the topology never fits."""
        found = self._try(index, candidates) if candidates else None
        if found is None:
            return None
        least, most = 1, len(candidates)
        while least < most:
            middle = (least + most) // 2
            fewer = self._try(index, candidates[:middle])
            if fewer is None:
                least = middle + 1
            else:
                found, most = fewer, middle
        for other in reversed(found.without):
            if other in found.without and len(found.without) > 1:
                fewer = self._try(index, [each for each in found.without if each != other])
                found = fewer or found
        return found

    def _try(self, index: int, without: Sequence[int]) -> _Trial | None:
        """Plan a topology alone as if some others were not there; None if it finds no room."""
        if self._expired():
            return None
        topology = self._request.topologies[index]
        others = [
            standing(other, self._slots[each])
            for each, other in enumerate(self._request.topologies)
            if each != index and each not in without and any(self._slots[each])
        ]
        # The shim frees the slots of those that go, not those that others leave in this round.
        left = {
            slot
            for each, other in enumerate(self._request.topologies)
            if each not in without
            for slot in set(assignment_of(other)) - set(self._slots[each])
        }
        supervisors = tuple(
            replace(each, ports=tuple(port for port in each.ports if (number, port) not in left))
            for number, each in enumerate(self._request.supervisors)
        )
        tried = self._plan(replace(self._request, supervisors=supervisors, topologies=(*others, topology)))
        plan = next((each for each in tried.response.plans if each.topology_id == topology.id), None)
        if plan is None or plan.decision is not Decision.ASSIGN:
            return None
        hosts = self._hosts(zip(plan.executor_supervisor, plan.executor_port, strict=True))
        needed = tuple(each for each in without if hosts & self._hosts(self._slots[each]))
        return _Trial(plan, tried.memory, needed)

    def _carry_out(self, index: int, found: _Trial) -> None:
        topology = self._request.topologies[index]
        names = [_name(self._request.topologies[each]) for each in found.without]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        said = f"evicted for it: {', '.join(names[:_SHOWN])}{more}; " if names else ""
        self._plans[topology.id] = replace(found.plan, status=said + found.plan.status)
        self._slots[index] = tuple(zip(found.plan.executor_supervisor, found.plan.executor_port, strict=True))
        for each in found.without:
            other = self._request.topologies[each]
            runs = any(slot is not None for slot in assignment_of(other))
            self._plans[other.id] = TopologyPlan(
                other.id,
                Decision.UNPLACEABLE,
                (),
                (),
                f"not placed: {'evicted for' if runs else 'gave way to'} {self._why(each, index)}",
                _STRATEGY,
                evicted_for=topology.id if runs else None,
            )
            self._slots[each] = ()
        self._gone.update(found.without)

    def _why(self, index: int, to: int) -> str:
        name, ranking = _name(self._request.topologies[to]), self._ranking
        if (to in ranking.within) != (index in ranking.within):
            return f"{name}, which the guarantee of its user covers"
        return f"{name}, whose priority is {ranking.priorities[to]}, not {ranking.priorities[index]}"

    def _after(self, topology: Topology) -> Assignment:
        """Return the slots of a topology's executors after the round; none is like one that never ran."""
        plan = self._plans.get(topology.id)
        if plan is None or plan.decision is not Decision.ASSIGN:
            return assignment_of(topology)
        return tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))

    def _hosts(self, slots: Iterable[Slot | None]) -> set[str]:
        return {self._request.supervisors[slot[0]].host for slot in slots if slot is not None}


def _name(topology: Topology) -> str:
    return topology.name or topology.id
