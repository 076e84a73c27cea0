"""A round planned executor by executor: each topology that needs it is asked of its strategy.

Topologies are taken in the order of their ranks, each sees what those before it left. First every
topology with executors to place is served, then the running ones are looked at for gains until a whole pass
changes nothing: so a plan that is carried out is left alone by the next round, unless the moves of a round or
its time ran out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.isolation import isolate
from bridge.problem.links.bandwidth_book import book_of
from bridge.problem.occupancy import RoundState
from bridge.problem.ranking import rank
from bridge.problem.task import Task, make_task
from bridge.round.checks import PlanCheckError, check_assignment
from bridge.round.round_report import HOLD_MS, Course, Round
from bridge.round.small.held import why_held, why_no_gain, why_not_searched
from bridge.round.small.improving import improve
from bridge.round.small.joining import Allowance
from bridge.round.small.placing import place_missing
from bridge.round.small.search import Search
from bridge.round.small.sight import look
from bridge.round.small.slots import assign_slots
from bridge.round.small.stability import Stability
from bridge.round.small.thresholds import Thresholds
from bridge.round.small.verdict import Verdict
from bridge.round.status import status_line, worker_note
from bridge.round.unread import failure, kept
from bridge.wire.messages import Decision, PlanResponse, TopologyPlan
from scheduler.base.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from bridge.network.cluster import Slot
    from bridge.round.memory import Memory
    from bridge.round.round_data import RoundData
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest

# Each pass that changes something saves a stated fraction of some objective: a few suffice.
_MOST_PASSES = 8
_NO_TIME = "no time left in this round"


def plan_small_round(
    request: PlanRequest,
    settings: Settings,
    data: RoundData,
    memory: Memory,
    course: Course,
    *,
    aside: Collection[int] = (),
) -> Round:
    """Plan a round executor by executor.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
        data: What is known of hosts, delays and rates.
        memory: What the round before handed on.
        course: Time and helpers of the round.
        aside: Positions of topologies that get no plan here; what of them runs takes its room.
    """
    return _Planner(request, settings, data, memory, course, aside=aside).run()


class _Planner:
    """One round at work."""

    def __init__(
        self,
        request: PlanRequest,
        settings: Settings,
        data: RoundData,
        memory: Memory,
        course: Course,
        *,
        aside: Collection[int],
    ) -> None:
        self._request = request
        self._settings = settings
        self._course = course
        self._data = data
        self._state = RoundState(request, self._data.hosts, settings.capacity.resources)
        own = [wishes.own.replan_cooldown_secs for wishes in data.wishes]
        self._stability = Stability(self._state, settings.move, memory, course.now_s, own)
        self._sight = look(
            self._data.hosts.hosts,
            self._data.readings,
            self._data.delays,
            measured_before=memory.measured,
        )
        self._book = book_of(self._state, data.site_links, data.wishes, self._task, data.elsewhere)
        self._search = Search(
            self._state,
            self._data.surroundings,
            self._deadline_for,
            course.children,
            availability_error=data.availability_error if settings.move.noise_sigmas > 0 else None,
            book=self._book,
        )
        self._verdicts: dict[int, Verdict] = {}
        self._traces: dict[int, str] = {}
        self._left_out: dict[int, str] = {}
        order = rank(request, data.wishes, data.cluster).order
        self._isolation = isolate(request, data.hosts, data.wishes, order, data.cluster)
        self._asked = [index for index in range(len(request.topologies)) if index not in aside]
        self._tasks: dict[int, Task] = {}
        self._order = tuple(index for index in order if index not in aside)
        self._frozen_by = settings.move.frozen_by(course.unix_s)
        self._questions_left = 0
        self._looked = False

    def run(self) -> Round:
        """Decide about every topology."""
        self._questions_left = sum(None in self._state.assignment(index) for index in self._order)
        for index in self._order:
            if not self._expired():
                self._decide(index, self._place)
            elif None in self._state.assignment(index):
                self._left_out[index] = _NO_TIME
        passes = 0
        changed = True
        while changed and passes < _MOST_PASSES and not self._expired():
            changed = False
            passes += 1
            self._questions_left = len(self._order)
            for index in self._order:
                changed |= self._decide(index, self._improve)
                self._questions_left -= 1
        # What time did not suffice to look at may have a gain or a pin that the next round finds.
        self._looked |= not passes
        topologies = self._request.topologies
        plans = tuple(self._plan(index) for index in self._asked if index not in self._left_out)
        return Round(
            response=PlanResponse(self._request.version, self._request.round_id, plans, self._hold_ms()),
            memory=replace(self._stability.memory(), measured=self._sight.remembered),
            known=self._data,
            setting_faults=tuple(
                (topologies[index].id, self._data.wishes[index].faults)
                for index in self._asked
                if self._data.wishes[index].faults
            ),
            traces=tuple((topologies[index].id, trace) for index, trace in sorted(self._traces.items())),
            left_out=tuple((topologies[index].id, why) for index, why in sorted(self._left_out.items())),
            waits=tuple(
                (topologies[index].id, wait) for index, wait in sorted(self._stability.waits.items())
            ),
            moves=self._state.total_moves(),
            restarts=self._state.total_restarts(),
            timed_out=self._expired() or self._search.timed_out,
        )

    def _hold_ms(self) -> int | None:
        """Nothing to plan until something changes, if nothing was missing and no gain was looked for."""
        changed = any(
            None in self._state.initial(index) or self._state.assignment(index) != self._state.initial(index)
            for index in self._order
        )
        return None if changed or self._looked or self._left_out else HOLD_MS

    def _task(self, index: int) -> Task:
        """Return what is known of a topology; worked out when it is first asked for, as there may be many."""
        if index not in self._tasks:
            topology, wishes = self._request.topologies[index], self._data.wishes[index]
            measured = self._data.rates.by_topology.get(topology.id)
            task = make_task(self._state, index, wishes, self._settings.plan, measured)
            permits = self._isolation.narrow(index, topology, task.permits, self._settings.plan)
            self._tasks[index] = replace(task, permits=permits)
        return self._tasks[index]

    def _expired(self) -> bool:
        return self._course.expired()

    def _deadline_for(self, task: Task) -> Deadline:
        """Give a topology its share of what is left, at most the time that it allows itself."""
        now = self._course.clock()
        share = (self._course.end_s - now) / max(self._questions_left, 1)
        limit_ms = task.settings.time_limit_ms
        if limit_ms is not None:
            share = min(share, limit_ms / 1000.0)
        return Deadline(self._course.clock, now + max(share, 0.0))

    def _allowance(self, task: Task) -> Allowance:
        left = max(self._settings.move.max_restarts_per_round - self._state.total_restarts(), 0)
        thresholds = Thresholds.of(self._settings.move, task.settings)
        no_gain = why_held(task) or why_no_gain(task, self._frozen_by)
        known = not self._data.delays.unknown
        return Allowance(left, thresholds, known, no_gain=no_gain, budgets=self._course.budgets)

    def _decide(self, index: int, step: Callable[[Task], Verdict | None]) -> bool:
        """Take one step for one topology; whatever goes wrong stays with this topology.

        Returns:
            True if an assignment changed.
        """
        if index in self._traces:
            # Planning it failed: its verdict stands.
            return False
        try:
            task = self._task(index)
            verdict = step(task)
            if verdict is None:
                return False
            if verdict.placement is None:
                self._note(index, verdict)
                return False
            strict = self._state.limits == "strict"
            assignment = assign_slots(
                self._state, index, verdict.placement, task.workers, strict=strict, apart=verdict.apart
            )
            self._check(task, assignment, verdict)
        except Exception as error:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            self._fail(index, error)
            return False
        if verdict.kind == "moved" and all(slot is None for slot in self._state.initial(index)):
            # Better than what an earlier step of this round had in mind, but nothing ran yet: no move.
            author = verdict.result.author if verdict.result else task.settings.strategy
            verdict = verdict.first_start(f"placed by {author}")
        self._state.assign(index, assignment)
        note = worker_note(task.workers.asked, len(set(assignment)))
        self._verdicts[index] = replace(verdict, reason=verdict.reason + note)
        return True

    def _fail(self, index: int, error: Exception) -> None:
        failed = failure(error)
        self._traces[index] = failed.trace
        if None in self._state.assignment(index):
            # Not unplaceable: that was not found out. Storm's own scheduler can still serve it.
            self._left_out[index] = failed.reason
        else:
            self._note(index, Verdict("kept", failed.reason))

    def _note(self, index: int, verdict: Verdict) -> None:
        """Remember a verdict that changes nothing; it replaces none that brought a plan."""
        if index not in self._verdicts or self._verdicts[index].kind == "kept":
            self._verdicts[index] = verdict

    def _place(self, task: Task) -> Verdict | None:
        verdict = place_missing(self._state, task, self._search, self._allowance(task), self._sight)
        self._questions_left -= None in self._state.assignment(task.index)
        return verdict

    def _improve(self, task: Task) -> Verdict | None:
        if None in self._state.assignment(task.index):
            # It could not be placed: its verdict stands.
            return None
        if task.topology.n_executors == 0:
            return Verdict("kept", "no executors")
        bound = task.bounds or task.settings.colocate or self._search.limits_bandwidth(task)
        held = why_held(task) or ("" if bound else why_no_gain(task, self._frozen_by))
        held = held or why_not_searched(task, self._data.delays)
        if held:
            self._stability.forget(task.index)
            return Verdict("kept", held)
        self._looked = True
        if self._expired():
            return Verdict("kept", _NO_TIME)
        allowance = self._allowance(task)
        return improve(self._state, task, self._search, allowance, self._stability, sight=self._sight)

    def _check(self, task: Task, assignment: Sequence[Slot], verdict: Verdict) -> None:
        faults = check_assignment(self._state, task, assignment, verdict.overload, verdict.least)
        if faults:
            raise PlanCheckError("; ".join(faults))

    def _plan(self, index: int) -> TopologyPlan:
        verdict = self._verdicts.get(index, Verdict("kept", _NO_TIME))
        if index not in self._tasks:
            return kept(self._request.topologies[index].id, verdict.reason)
        task, state = self._tasks[index], self._state
        assignment = [slot for slot in state.assignment(index) if slot is not None]
        changed = state.assignment(index) != state.initial(index)
        if verdict.kind == "unplaceable":
            decision = Decision.UNPLACEABLE
        else:
            decision = Decision.ASSIGN if changed else Decision.KEEP
        hosts = [state.host_of(slot) for slot in assignment]
        restarted = state.restarted_workers(index)
        return TopologyPlan(
            topology_id=task.topology.id,
            decision=decision,
            executor_supervisor=tuple(slot[0] for slot in assignment) if decision is Decision.ASSIGN else (),
            executor_port=tuple(slot[1] for slot in assignment) if decision is Decision.ASSIGN else (),
            status=status_line(
                verdict,
                task,
                hosts,
                self._data,
                note=self._isolation.notes.get(index, ""),
                loads=self._book.loads(index),
            ),
            strategy=task.settings.strategy,
            objective=None if verdict.evaluation is None else verdict.evaluation.objective,
            response_time_ms=None if verdict.evaluation is None else verdict.evaluation.response_time_ms,
            bound=verdict.bound,
            price=verdict.price(state.moves(index), restarted) if decision is Decision.ASSIGN else None,
        )
