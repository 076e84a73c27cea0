"""What a plan really cost and brought: measured when its workers run again, and remembered for later prices.

The rates of a topology say when workers began to run, and when their executors began to work. A pause lasts
from the plan until they work; those that have nothing to do count by the start of their worker.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from bridge.problem.assignment import assignment_of
from bridge.readings.rates import UNMEASURED
from bridge.round.memory import Awaited, Start
from bridge.round.price.pause import expected_pause, starts_of
from bridge.wire.messages import Decision, Price
from scheduler.model.metrics.response_time import RESPONSE_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.assignment import Assignment
    from bridge.round.memory import Memory, StartedWorker
    from bridge.round.round_report import Round
    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan

LONGEST_S = 600.0
"""A start that did not come until then is given up; a pause as long would be no restart."""
SETTLED_S = 120.0
"""So much later response times are taken: by then the windows of all rates lie behind the pause."""
IDLE_S = 240.0
"""What is not seen to work so long after the start has nothing to do: Storm shows counts once a minute."""
_TOGETHER_S = 5.0
"""Workers that run so long before the last one of their plan may have to wait for what that one sends."""
_MOST_AWAITED = 256
"""Of more plans that restart executors the last are measured."""
_MOST_FIRST_STARTS = 16
"""Of more plans that restart none the first are: all of them say about the same."""
_MOST_WORKERS = 32
"""Of more workers that start by one plan the first are measured."""
_MOST_STARTS = 128
"""Starts that are remembered, of all sites."""


@dataclass(frozen=True)
class Measurement:
    """A plan that restarted executors, predicted and measured.

    Attributes:
        topology: Its id.
        unix_s: When the plan was made, s since 1970.
        workers: Workers that it restarted, as predicted.
        executors: Executors of these, as predicted.
        pause_s: Predicted pause, s.
        measured_pause_s: From the plan until the last of its executors worked, s; None if that was not
            measured.
        workers_ran_s: From the plan until the last of its workers ran, s; None likewise.
        pause_until: `work`, or `start` if no executor was seen to work and both are the same; None likewise.
        measured_executors: Executors of the topology whose worker has begun since; None likewise.
        response_time_ms: By the model: of staying, predicted, and on the readings after it.
        complete_ms: Measured time from emission to acknowledgement before and after it.
        why_not: Why it was not measured; empty if it was.
    """

    topology: str
    unix_s: float
    workers: int
    executors: int
    pause_s: float
    measured_pause_s: float | None
    workers_ran_s: float | None
    pause_until: Literal["work", "start"] | None
    measured_executors: int | None
    response_time_ms: tuple[float | None, float | None, float | None]
    complete_ms: tuple[float | None, float | None]
    why_not: str = ""


def with_measurements(request: PlanRequest, done: Round, memory: Memory, unix_s: float | None) -> Round:
    """Return a round that has measured earlier plans, and remembers which of its own are to be measured.

    Args:
        request: The round as the shim sees it.
        done: What came out of it.
        memory: What the round before handed on.
        unix_s: Time of the round, s since 1970; None: nothing is measured.
    """
    awaited, found = list(memory.to_measure), []
    starts = list(memory.starts)
    if unix_s is not None:
        plans = {plan.topology_id: plan for plan in done.response.plans} if awaited else {}
        topologies = {topology.id: topology for topology in request.topologies} if awaited else {}
        awaited = []
        for each in memory.to_measure:
            look = _Look(each, request, topologies.get(each.id), done, unix_s)
            if look.waits:
                awaited.append(each)
                continue
            starts += look.starts
            if each.executors:
                found.append(look.measurement(plans.get(each.id)))
        awaited += _to_be_measured(request, done, memory, unix_s)
    firsts = [each for each in awaited if not each.executors]
    restarts = [each for each in awaited if each.executors]
    remembered = replace(
        done.memory,
        to_measure=(*firsts[:_MOST_FIRST_STARTS], *restarts[-_MOST_AWAITED:]),
        starts=tuple(starts[-_MOST_STARTS:]),
    )
    return replace(done, memory=remembered, measured=tuple(found))


class _Worker(NamedTuple):
    """A worker of a plan; times are from the plan on, s.

    Attributes:
        started: What was awaited of it.
        ran_s: When it ran.
        worked_s: When the last of its executors took or emitted its first tuple; None if none is known to.
        waits: Whether some of its executors are not known to have.
        ready_s: When the last of them that had no tuple at first was seen to be there; None if all had some.
    """

    started: StartedWorker
    ran_s: float
    worked_s: float | None
    ready_s: float | None
    waits: bool

    @property
    def end_s(self) -> float:
        """When its pause ended."""
        return self.ran_s if self.worked_s is None else self.worked_s


class _Look:
    """One look at an earlier plan.

    Attributes:
        waits: Whether it is too early.
        starts: What was measured of each worker; empty if nothing was.
    """

    def __init__(
        self, awaited: Awaited, request: PlanRequest, topology: Topology | None, done: Round, unix_s: float
    ) -> None:
        self._awaited = awaited
        self._since_s = unix_s - awaited.unix_s
        self._rates = done.known.rates.by_topology.get(awaited.id, UNMEASURED)
        workers = [] if topology is None else self._workers(topology)
        came = bool(workers)
        self._why_not = ""
        if topology is None:
            self._why_not = "the topology is gone"
        elif _digest(request, topology, assignment_of(topology), awaited.starts) != awaited.digest:
            self._why_not = "its workers are not, or not any more, where the plan put them"
        elif self._since_s < 0:
            self._why_not = "the daemon's clock was set back"
        elif not came and self._since_s > LONGEST_S:
            self._why_not = f"the rates name no start of all its workers within {LONGEST_S / 60:.0f} minutes"
        elif came and max(each.ran_s for each in workers) > LONGEST_S:
            self._why_not = f"the last start of its workers came after more than {LONGEST_S / 60:.0f} minutes"
        self.waits = not (self._why_not or (came and self._settled(workers)))
        self._measured = () if self.waits or self._why_not else tuple(workers)
        self.starts = tuple(self._sample(each) for each in self._measured)

    def measurement(self, plan: TopologyPlan | None) -> Measurement:
        """Return what came of the plan, beside what was predicted.

        Args:
            plan: What the round that looks says of the topology.
        """
        awaited, rates, measured = self._awaited, self._rates, self._measured
        kept = plan is not None and plan.decision is Decision.KEEP and not self._why_not
        began = [age_s for age_s in rates.running_s.values() if age_s < self._since_s]
        works = any(each.worked_s is not None for each in measured)
        return Measurement(
            topology=awaited.id,
            unix_s=awaited.unix_s,
            workers=awaited.workers,
            executors=awaited.executors,
            pause_s=awaited.pause_s,
            measured_pause_s=max((each.end_s for each in measured), default=None),
            workers_ran_s=max((each.ran_s for each in measured), default=None),
            pause_until=("work" if works else "start") if measured else None,
            measured_executors=len(began) if measured else None,
            response_time_ms=(*awaited.response_time_ms, plan.response_time_ms if kept and plan else None),
            complete_ms=(awaited.complete_ms, rates.complete_ms if measured else None),
            why_not=self._why_not,
        )

    def _workers(self, topology: Topology) -> list[_Worker]:
        """Return how long after the plan workers ran and worked; none before all have been seen to run."""
        rates, starts = self._rates, self._awaited.starts
        ran = [(each, self._last((each.task,), rates.running_s)) for each in starts]
        if any(ran_s is None for _, ran_s in ran):
            return []
        slot_of = dict(zip(topology.executor_first_task, assignment_of(topology), strict=True))
        executors: defaultdict[Slot | None, list[int]] = defaultdict(list)
        for task, slot in slot_of.items():
            executors[slot].append(task)
        return [
            self._worker(each, ran_s, executors[slot_of.get(each.task)])
            for each, ran_s in ran
            if ran_s is not None
        ]

    def _worker(self, started: StartedWorker, ran_s: float, executors: Sequence[int]) -> _Worker:
        worked_s, ready_s = self._rates.worked_s or {}, self._rates.ready_s
        waits = any(not worked_s.get(each, self._since_s) < self._since_s for each in executors)
        return _Worker(started, ran_s, self._last(executors, worked_s), self._last(executors, ready_s), waits)

    def _last(self, executors: Iterable[int], ages_s: Mapping[int, float]) -> float | None:
        """Return when after the plan the last of executors did what was so long ago; None if none did."""
        ages = (ages_s[each] for each in executors if each in ages_s)
        return max((self._since_s - age_s for age_s in ages if age_s < self._since_s), default=None)

    def _settled(self, workers: Sequence[_Worker]) -> bool:
        """Say whether windows of rates lie behind the pause, and nothing more is to be seen of it."""
        last_s = max(each.ran_s for each in workers)
        unseen = self._rates.worked_s is not None and any(each.waits for each in workers)
        if unseen and self._since_s - last_s < IDLE_S:
            return False
        return self._since_s - max(each.end_s for each in workers) >= SETTLED_S

    def _sample(self, worker: _Worker) -> Start:
        """Return what later prices learn of a worker.

        What had nothing to do may have waited for others, or for data: it counts as soon as it was ready.
        """
        began = worker.started
        last_s = max(each.ran_s for each in self._measured)
        fed = self._awaited.executors > 0 and worker.ran_s >= last_s - _TOGETHER_S
        known = [each for each in (worker.worked_s, worker.ready_s) if each is not None]
        works_s = worker.worked_s if fed and worker.worked_s is not None else min(known, default=None)
        return Start(worker.ran_s, began.site, began.first, works_s)


def _to_be_measured(request: PlanRequest, done: Round, memory: Memory, unix_s: float) -> Iterator[Awaited]:
    assigned = {plan.topology_id: plan for plan in done.response.plans if plan.decision is Decision.ASSIGN}
    first_starts = 0
    for topology in request.topologies if assigned else ():
        plan = assigned.get(topology.id)
        if plan is None:
            continue
        price = plan.price or Price(0.0, 0, 0, 0)
        first_starts += not price.executors_restarted
        if not price.executors_restarted and first_starts > _MOST_FIRST_STARTS:
            continue
        before = assignment_of(topology)
        after = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
        starts = starts_of(topology, before, after, done.known.hosts.of_supervisor)[:_MOST_WORKERS]
        if starts:
            measured = done.known.rates.by_topology.get(topology.id)
            yield Awaited(
                id=topology.id,
                unix_s=unix_s,
                digest=_digest(request, topology, after, starts),
                starts=starts,
                executors=price.executors_restarted or 0,
                workers=price.workers_moved,
                pause_s=expected_pause(memory, starts).pause_s if price.pause_s is None else price.pause_s,
                response_time_ms=price.known(RESPONSE_TIME.answer),
                complete_ms=None if measured is None else measured.complete_ms,
            )


def _digest(
    request: PlanRequest, topology: Topology, assignment: Assignment, starts: Iterable[StartedWorker]
) -> str:
    """Return a digest of workers that start: who is in them, and where they are."""
    named = {each.task for each in starts}
    slots = {
        slot for slot, task in zip(assignment, topology.executor_first_task, strict=True) if task in named
    }
    lines = (
        f"{task} {request.supervisors[slot[0]].id}:{slot[1]}"
        for slot, task in zip(assignment, topology.executor_first_task, strict=True)
        if slot is not None and slot in slots
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
