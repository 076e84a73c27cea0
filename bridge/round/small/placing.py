"""Place executors without a slot, and executors whose pin or avoidance is broken.

All others keep their host, and their worker where that is possible (`joining`); only if that has no solution,
on doubtful hosts neither, may the others move to make room. If executors lost their host, those on hosts that
vanished from the readings are placed anew with them: Nimbus does not give up all hosts of a site at once, and
each further round would restart the topology.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.packing.phrases import above_declared
from bridge.problem.worker_room import heap_stretches
from bridge.round.small.joining import Attempt, spare_workers
from bridge.round.small.needs import Need, displaced_groups, need_of
from bridge.round.small.preferring import ask_as_preferred, by_wishes, heap_overloads
from bridge.round.small.slots import assign_slots
from bridge.round.small.verdict import Verdict, with_proof
from formats.counted import counted
from scheduler.packing.pack import OVERLOADS

if TYPE_CHECKING:
    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.joining import Allowance
    from bridge.round.small.search import Search
    from bridge.round.small.sight import Sight


def place_missing(
    state: RoundState, task: Task, search: Search, allowance: Allowance, sight: Sight
) -> Verdict | None:
    """Place executors that have no slot or whose pin or avoidance is broken.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        allowance: What the round may restart.
        sight: Knows which hosts have vanished, and which gains rest on missing readings.

    Returns:
        None if there is nothing to place.
    """
    return _Placing(state, task, search, allowance, sight).run()


class _Placing:
    """One topology at work."""

    def __init__(
        self, state: RoundState, task: Task, search: Search, allowance: Allowance, sight: Sight
    ) -> None:
        self._state = state
        self._task = task
        self._search = search
        self._allowance = allowance
        self._left = allowance.restarts_left
        self._sight = sight

    def run(self) -> Verdict | None:
        """Return the verdict, None if there is nothing to place."""
        task, vanished = self._task, self._sight.vanished
        if None in self._state.assignment(task.index) and vanished.any():
            # If not all executors on vanished hosts have room elsewhere, at least the missing ones go there.
            for permits in (task.permits.without(vanished), task.permits.closed_to(vanished)):
                narrowed = replace(task, permits=permits)
                verdict = self._place_aside(narrowed, need_of(self._state, narrowed, self._allowance))
                if verdict is not None:
                    return verdict
        return self._place(need_of(self._state, task, self._allowance))

    def _place(self, need: Need) -> Verdict | None:
        """Place what needs it: beside what runs, above soft capacities, or after making room."""
        if need.barred:
            return need.unmet(need.barred)
        if not need.missing and not need.groups:
            because = f"{self._left} may restart in this round{self._allowance.budgets.because}"
            waiting = counted(need.waiting, "executor waits", "executors wait")
            wait = f"{waiting} to move, {f'as that {need.over}' if need.over else because}"
            return need.unmet(wait) if need.waiting else None
        attempt = self._place_beside(self._task, need)
        stretches = self._state.stretches or heap_stretches(self._state, self._task.workers)
        if attempt.answer.placement is None and stretches:
            attempt = self._overload(attempt, need)
        if attempt.answer.placement is not None:
            attempt = self._spare(attempt, need)
            fewer = self._within_budget(attempt, need)
            if fewer is not need:
                return self._place(fewer)
        elif not attempt.all_free and not self._task.settings.frozen:
            attempt = self._make_room(attempt, need)
            refusal = self._why_no_room(attempt)
            if refusal:
                return need.unmet(refusal)
        if attempt.answer.placement is None:
            return need.unmet(attempt.answer.result.reason, attempt.answer.result)
        verdict = self._verdict(need, attempt)
        # While executors are held, nothing is proved about all placements of the topology.
        return with_proof(verdict) if attempt.all_free else verdict

    def _place_aside(self, narrowed: Task, need: Need) -> Verdict | None:
        """Place by permits that leave hosts aside; None if that is impossible while others keep their host.

        Args:
            narrowed: The topology with these permits.
            need: What has to be placed by them.
        """
        if need.barred:
            return None
        attempt = self._place_beside(narrowed, need)
        if attempt.answer.placement is None:
            return None
        attempt = self._spare(attempt, need)
        fewer = self._within_budget(attempt, need)
        if fewer is not need:
            return self._place_aside(narrowed, fewer)
        # Without a proof: it would hold for some of the hosts only.
        return self._verdict(need, attempt)

    def _place_beside(self, task: Task, need: Need, overload: float = 0.0) -> Attempt:
        """Ask for a placement while all others keep their host, with ever fewer wishes until there is one."""
        fixed = need.fixed()
        wishes = by_wishes(task)
        above = ", above the bandwidth of links as none was found within"
        if self._task.within_bandwidth and not task.within_bandwidth:
            # an earlier attempt came to this, and found no room all the same
            wishes = [(each, how + above) for each, how in wishes]
        elif self._state.limits != "strict" and self._search.limits_bandwidth(task):
            last, how = wishes[-1]
            wishes.append((replace(last, within_bandwidth=False), how + above))
        for each, how in wishes:
            answer = ask_as_preferred(self._search, each, fixed, overload=overload)
            attempt = Attempt(each, fixed, answer, how, overload)
            if answer.placement is not None:
                break
        return attempt

    def _overload(self, failed: Attempt, need: Need) -> Attempt:
        """Ask for a placement that exceeds soft capacities by little; return the failed one if there is none.

        Restarting what runs, to make room, would cost more than a host that is somewhat too full.
        """
        most = self._place_beside(failed.task, need, OVERLOADS[-1])
        if most.answer.placement is None:
            return failed
        for overload in OVERLOADS[:-1]:
            attempt = self._place_beside(failed.task, need, overload)
            if attempt.answer.placement is not None:
                return attempt
        return most

    def _make_room(self, failed: Attempt, need: Need) -> Attempt:
        """Ask whether all executors fit together: the running ones may be in the way.

        Those that are permitted nowhere keep their host.
        """
        task = failed.task
        fixed = [
            host if component in task.permits.reasons else None
            for host, component in zip(need.hosts, task.component.tolist(), strict=True)
        ]
        return Attempt(task, fixed, self._search.ask(task, fixed), f" after making room{failed.how}")

    def _spare(self, attempt: Attempt, need: Need) -> Attempt:
        return spare_workers(
            self._state,
            self._task,
            self._search,
            attempt,
            leaving=need.leaving,
            allowance=self._allowance,
            sight=self._sight,
        )

    def _within_budget(self, attempt: Attempt, need: Need) -> Need:
        """Let the last group wait if what leaves restarts more than may restart; it goes if it is alone."""
        if not need.groups:
            return need
        alone = len(need.groups) == 1 and self._state.total_restarts() == 0
        over = self._over(attempt)
        if over or (not alone and self._restarts(attempt) > self._left):
            return need.without_last(over)
        return need

    def _why_no_room(self, attempt: Attempt) -> str:
        """Say why room may not be made; empty if it may."""
        restarts, over = self._restarts(attempt), self._over(attempt)
        if restarts > self._left:
            most = f"{self._left} may restart{self._allowance.budgets.because}"
            return f"making room would restart {counted(restarts, 'running executor')}, {most}"
        return f"making room {over}" if over else ""

    def _over(self, attempt: Attempt) -> str:
        """Say which budget of sites or workers an attempt would exceed; empty if none."""
        slots = self._slots(attempt)
        if slots is None:
            return ""
        return self._allowance.budgets.why_over(self._state, self._task.index, slots, alone=True)

    def _restarts(self, attempt: Attempt) -> int:
        """Number of running executors that an attempt restarts."""
        slots = self._slots(attempt)
        return 0 if slots is None else self._state.restarts_by(self._task.index, slots)

    def _slots(self, attempt: Attempt) -> tuple[Slot, ...] | None:
        state, task, placement = self._state, self._task, attempt.answer.placement
        if placement is None:
            return None
        strict = state.limits == "strict"
        return assign_slots(state, task.index, placement, task.workers, strict=strict, apart=True)

    def _verdict(self, need: Need, attempt: Attempt) -> Verdict:
        """Return the verdict on an attempt that found a placement; its reason counts who left, and why."""
        state, task, result = self._state, self._task, attempt.answer.result
        broken = {executor for group in displaced_groups(state, task) for executor in group}
        gone = len(need.leaving - broken)
        reason = f"placed by {result.author}{attempt.how}"
        if gone:
            reason += f", {gone} moved because readings of their hosts have vanished"
        if len(need.leaving) > gone:
            reason += f", {len(need.leaving) - gone} moved because a pin or avoidance was broken"
        if need.waiting:
            because = f"no more may restart in one round{self._allowance.budgets.because}"
            waiting = counted(need.waiting, "more waits", "more wait")
            reason += f", {waiting} as {f'that {need.over}' if need.over else because}"
        placement = attempt.answer.placement
        overloads = (
            (*state.overloads(task.index, placement), *heap_overloads(state, task, placement))
            if attempt.overload and placement
            else ()
        )
        if overloads:
            reason += above_declared(overloads)
        return Verdict(
            "placed",
            reason,
            placement,
            result,
            evaluation=result.evaluation,
            overload=attempt.overload,
            apart=True,
            least=attempt.answer.least,
        )
