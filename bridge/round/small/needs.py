"""What has to be placed of a topology in a round: executors without a slot, and groups that have to leave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import executors_by_slot
from bridge.round.small.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.joining import Allowance
    from scheduler.contract.result import Result


@dataclass(frozen=True, eq=False)
class Need:
    """What has to be placed of a topology.

    Attributes:
        hosts: Host of every executor, None if it has no slot.
        missing: Executors without a slot.
        groups: Running executors that have to leave their host and may do so in this round, those of one
            worker together, in the order in which they go.
        waiting: Number of those that have to leave but may not yet.
        over: The budget of sites or workers that moving them would exceed, as the end of a sentence; empty if
            it is the number of executors of one round.
        barred: Why executors that have to be placed are permitted nowhere, empty if they are somewhere.
    """

    hosts: Sequence[int | None]
    missing: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    waiting: int
    over: str
    barred: str

    @property
    def leaving(self) -> frozenset[int]:
        """The running executors that leave their host."""
        return frozenset(executor for group in self.groups for executor in group)

    def fixed(self) -> list[int | None]:
        """Return the host that every executor keeps, None for those that have to be placed."""
        leaving = self.leaving
        return [None if executor in leaving else host for executor, host in enumerate(self.hosts)]

    def without_last(self, over: str) -> Need:
        """Let the last group wait.

        Args:
            over: The budget that it would exceed.
        """
        waiting = self.waiting + len(self.groups[-1])
        return replace(self, groups=self.groups[:-1], waiting=waiting, over=over)

    def unmet(self, reason: str, result: Result | None = None) -> Verdict:
        """Return the verdict that it cannot be placed."""
        return Verdict("unplaceable" if self.missing else "unmet", reason, result=result)


def need_of(state: RoundState, task: Task, allowance: Allowance) -> Need:
    """Find out which executors have to be placed, and which of them can be.

    Args:
        state: The cluster so far.
        task: The topology.
        allowance: What the round may still restart.
    """
    hosts = state.hosts_of(state.assignment(task.index))
    missing = tuple(executor for executor, host in enumerate(hosts) if host is None)
    displaced = displaced_groups(state, task)
    # What runs and is permitted nowhere stays where it is: it must not keep others from being placed.
    movable = [group for group in displaced if not _reasons(task, group)]
    judged = missing if missing or movable else tuple(executor for group in displaced for executor in group)
    groups, over = _first_workers(state, task.index, movable, allowance)
    waiting = sum(map(len, movable)) - sum(map(len, groups))
    return Need(hosts, missing, groups, waiting, over, barred="; ".join(_reasons(task, judged)))


def displaced_groups(state: RoundState, task: Task) -> list[tuple[int, ...]]:
    """Return groups of executors that run where a pin or avoidance forbids it, none of a frozen topology.

    A host that is dead, blacklisted or full is no such reason: what runs there goes on running. But where
    no supervisor would restart the rest of a worker, the whole worker goes.

    Args:
        state: The cluster so far.
        task: The topology.
    """
    if task.settings.frozen:
        return []
    assignment = state.assignment(task.index)
    workers = executors_by_slot(assignment)
    groups: dict[tuple[int, ...], None] = {}
    for executor, slot in enumerate(assignment):
        if slot is None or task.permits.tolerated[task.component[executor], state.host_of(slot)]:
            continue
        usable = state.request.supervisors[slot[0]].usable
        groups[(executor,) if usable else tuple(sorted(workers[slot]))] = None
    return list(groups)


def _reasons(task: Task, executors: Sequence[int]) -> list[str]:
    """Say why executors of these are permitted nowhere, one phrase per component."""
    components = sorted({int(task.component[executor]) for executor in executors})
    return [task.permits.reasons[component] for component in components if component in task.permits.reasons]


def _first_workers(
    state: RoundState, topology: int, groups: Sequence[tuple[int, ...]], allowance: Allowance
) -> tuple[tuple[tuple[int, ...], ...], str]:
    """Take what leaves from worker after worker, small ones first, as long as they may restart.

    A worker that is larger than any round allows goes if nothing else restarts in this one, as it would wait
    for ever.

    Returns:
        What leaves, and the budget of sites or workers that the rest would exceed, if it is one of these.
    """
    most = allowance.restarts_left
    assignment = state.assignment(topology)
    workers = executors_by_slot(assignment)
    leaving: dict[int, tuple[int, ...]] = {}
    for group in groups:
        first = min(workers[slot]) if (slot := assignment[group[0]]) is not None else group[0]
        leaving[first] = (*leaving.get(first, ()), *group)
    sizes = {min(executors): len(executors) for executors in workers.values()}
    alone = state.total_restarts() == 0 and most > 0
    taken: list[tuple[int, ...]] = []
    restarts, over = 0, ""
    after: list[Slot | None] = list(assignment)
    for first in sorted(leaving, key=lambda each: (sizes[each], len(leaving[each]), each)):
        if restarts + sizes[first] > most and (taken or not alone):
            break
        without = [None if executor in leaving[first] else slot for executor, slot in enumerate(after)]
        excess = allowance.budgets.why_over(state, topology, without, alone=True)
        if excess:
            over = excess
            continue
        taken.append(leaving[first])
        restarts, after = restarts + sizes[first], without
    return tuple(taken), over
