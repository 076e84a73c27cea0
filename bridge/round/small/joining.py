"""Whether executors that have to be placed may join workers that run, which restarts all of their executors.

They go where a slot is free, or to a worker that restarts in any case; a host with free slots takes more than
its fair share of executors for it. To other workers they go only where nothing else has room, or for a gain
over the best placement without, by the thresholds of any restart.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.assignment import executors_by_slot
from bridge.round.restart_budgets import NO_BUDGETS
from bridge.round.small.preferring import ask_as_preferred
from bridge.round.small.slots import assign_slots
from bridge.round.small.stability import percent
from bridge.round.small.thresholds import gain_of
from formats.counted import counted
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.restart_budgets import RestartBudgets
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.sight import Sight
    from bridge.round.small.thresholds import Thresholds
    from scheduler.base.arrays import BoolArray


@dataclass(frozen=True, eq=False)
class Attempt:
    """One way to place executors, and what the strategy answered.

    Attributes:
        task: The topology, with the permits that the strategy got.
        fixed: The host that every executor had to keep, None if it was free.
        answer: The strategy's answer.
        how: What the status line adds to the strategy's name.
        overload: Part of the hosts' soft capacities by which they might be exceeded.
    """

    task: Task
    fixed: Sequence[int | None]
    answer: Answer
    how: str = ""
    overload: float = 0.0

    @property
    def all_free(self) -> bool:
        """Whether the strategy could place every executor."""
        return all(host is None for host in self.fixed)


@dataclass(frozen=True)
class Allowance:
    """What a round may restart.

    Attributes:
        restarts_left: Running executors that may still restart in this round.
        thresholds: The least gains that a restart is worth.
        known: Whether delays between hosts are known, so that gains are.
        no_gain: Why the topology restarts for no gain; empty if it may.
        budgets: What of sites and workers may still restart.
    """

    restarts_left: int
    thresholds: Thresholds
    known: bool
    no_gain: str = ""
    budgets: RestartBudgets = NO_BUDGETS


def spare_workers(
    state: RoundState,
    task: Task,
    search: Search,
    attempt: Attempt,
    *,
    leaving: Collection[int],
    allowance: Allowance,
    sight: Sight,
) -> Attempt:
    """Return an attempt that restarts no worker without need, or says what pays for it.

    Args:
        state: The cluster so far.
        task: The topology, with all of its wishes.
        search: Asks strategies.
        attempt: Found a placement.
        leaving: Running executors that have to leave their host: their workers restart in any case.
        allowance: What the round may restart.
        sight: Knows which gains rest on missing readings.
    """
    joined = _restarts(state, task, attempt, leaving)
    if not joined:
        return attempt
    executors = counted(joined, "executor")
    gentle = _gentle(state, task, search, attempt, leaving)
    if gentle is None:
        return replace(attempt, how=f"{attempt.how}, restarts {executors} as no free slot has room")
    gain = _gain_that_pays(search, attempt, gentle, allowance, sight=sight)
    if not gain or joined > allowance.restarts_left or _exceeds(state, task, attempt, allowance):
        return gentle
    return replace(attempt, how=f"{attempt.how}, restarts {executors} for a gain of {percent(gain)}")


def _gentle(
    state: RoundState, task: Task, search: Search, attempt: Attempt, leaving: Collection[int]
) -> Attempt | None:
    """Return an attempt that restarts fewer executors, as none comes where no slot is free; None without one.

    A host with free slots takes more executors than its fair share if it must.
    """
    closed = _without_free_slot(state, task.index, leaving)
    joined = _restarts(state, task, attempt, leaving)
    for each in (attempt.task, _evened(state, attempt, closed)):
        answer = ask_as_preferred(search, each, attempt.fixed, closed, overload=attempt.overload)
        found = replace(attempt, task=each, answer=answer)
        if answer.placement is not None and _restarts(state, task, found, leaving) < joined:
            return found
    return None


def _evened(state: RoundState, attempt: Attempt, closed: BoolArray) -> Task:
    """Return an attempt's task with as much more room on each open host as its executors make necessary."""
    task = attempt.task
    held = [host for host in attempt.fixed if host is not None]
    missing = len(attempt.fixed) - len(held)
    placed = {int(task.component[index]) for index, host in enumerate(attempt.fixed) if host is None}
    open_hosts = ~closed & task.permits.permitted[sorted(placed)].any(axis=0)
    here = np.bincount(held, minlength=len(closed))[open_hosts]

    def room(least: int) -> int:
        left = task.capacity_left(state, attempt.overload, least)[open_hosts, 0]
        return int(np.maximum(left - here, 0.0).sum())

    return replace(task, least=bisect_left(range(len(attempt.fixed)), missing, lo=task.least, key=room))


def _exceeds(state: RoundState, task: Task, attempt: Attempt, allowance: Allowance) -> bool:
    """Whether an attempt restarts more of a site, of a worker or of the topology than may for a gain."""
    slots, most = _slots(state, task, attempt), task.settings.replan_workers_max
    many = most is not None and len(state.restarted_workers(task.index, slots)) > most
    return many or bool(allowance.budgets.why_over(state, task.index, slots))


def _slots(state: RoundState, task: Task, attempt: Attempt) -> tuple[Slot, ...]:
    strict = state.limits == "strict"
    placement = attempt.answer.placement or ()
    return assign_slots(state, task.index, placement, task.workers, strict=strict, apart=True)


def _restarts(state: RoundState, task: Task, attempt: Attempt, leaving: Collection[int]) -> int:
    """Number of executors of the workers that an attempt restarts though none of theirs leaves."""
    after = executors_by_slot(_slots(state, task, attempt))
    workers = _untouched(state, task.index, leaving)
    return sum(len(executors) for slot, executors in workers.items() if after.get(slot) != executors)


def _untouched(state: RoundState, topology: int, leaving: Collection[int]) -> dict[Slot, set[int]]:
    """Executors by slot of the workers that go on if none joins them."""
    workers = executors_by_slot(state.assignment(topology))
    restarting = state.restarting(topology)
    return {
        slot: executors
        for slot, executors in workers.items()
        if executors.isdisjoint(leaving) and slot not in restarting
    }


def _without_free_slot(state: RoundState, topology: int, leaving: Collection[int]) -> BoolArray:
    """(n_hosts,) hosts where executors can only join a worker that would go on running."""
    workers = _untouched(state, topology, leaving)
    slots = (state.open_slots(topology, host) for host in range(len(state.hosts.hosts)))
    return np.array([workers.keys() >= set(each) for each in slots], dtype=np.bool_)


def _gain_that_pays(
    search: Search, joining: Attempt, gentle: Attempt, allowance: Allowance, *, sight: Sight
) -> float:
    """Return what joining gains over a gentle attempt, as a fraction; 0 if it does not pay for a restart."""
    task = joining.task
    question = search.pose(task, joining.fixed, overload=joining.overload)
    placements = [each.answer.placement or () for each in (gentle, joining)]
    held = allowance.no_gain or not allowance.known
    if held or not np.isin(placements, question.frame.hosts).all():
        return 0.0
    before, after = (evaluate(question.problem, question.frame.nodes_of(each)) for each in placements)
    gain = gain_of(question.problem, before, after)
    if allowance.thresholds.why_not(gain) or sight.why_not(question.problem, placements[1]):
        return 0.0
    return gain.fraction
