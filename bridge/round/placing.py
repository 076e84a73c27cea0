"""Place executors without a slot, and executors whose pin or avoidance is broken.

All others keep their host; only if that has no solution, on doubtful hosts neither, may the others move to
make room. If executors lost their host, those on hosts that vanished from the readings are placed anew with
them: Nimbus does not give up all hosts of a site at once, and each further round would restart the topology.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.problem.occupancy import executors_by_slot
from bridge.problem.worker_room import heap_stretches
from bridge.round.candidate import moved_executors
from bridge.round.preferring import ask_as_preferred, by_wishes, heap_overloads
from bridge.round.verdict import Verdict, with_proof

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.problem_builder import Task
    from bridge.round.search import Answer, Search
    from bridge.round.sight import Sight
    from scheduler.contract.result import Result

# Parts of their capacity by which hosts may be exceeded, tried in turn; the last one holds whatever there is.
_OVERLOADS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 1e6)
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class _Need:
    """What has to be placed of a topology.

    Attributes:
        hosts: Host of every executor, None if it has no slot.
        missing: Executors without a slot.
        leaving: Running executors that have to leave their host and may do so in this round.
        waiting: Number of those that have to leave but may not yet.
        barred: Why executors that have to be placed are permitted nowhere, empty if they are somewhere.
    """

    hosts: Sequence[int | None]
    missing: tuple[int, ...]
    leaving: tuple[int, ...]
    waiting: int
    barred: str

    def fixed(self) -> list[int | None]:
        """Return the host that every executor keeps, None for those that have to be placed."""
        return [None if executor in self.leaving else host for executor, host in enumerate(self.hosts)]

    def unmet(self, reason: str, result: Result | None = None) -> Verdict:
        """Return the verdict that it cannot be placed."""
        return Verdict("unplaceable" if self.missing else "unmet", reason, result=result)


@dataclass(frozen=True, eq=False)
class _Attempt:
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


def place_missing(
    state: RoundState, task: Task, search: Search, moves_left: int, sight: Sight
) -> Verdict | None:
    """Place executors that have no slot or whose pin or avoidance is broken.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.
        sight: Knows which hosts have vanished.

    Returns:
        None if there is nothing to place.
    """
    if None in state.assignment(task.index) and sight.vanished.any():
        # If not all executors on vanished hosts have room elsewhere, at least the missing ones go elsewhere.
        for permits in (task.permits.without(sight.vanished), task.permits.closed_to(sight.vanished)):
            verdict = _place_aside(state, task, replace(task, permits=permits), search, moves_left)
            if verdict is not None:
                return verdict
    need = _need(state, task, moves_left)
    if need.barred:
        return need.unmet(need.barred)
    if need.missing or need.leaving:
        return _place_needed(state, task, search, need, moves_left)
    if need.waiting:
        return need.unmet(f"{need.waiting} executors wait to move, {moves_left} may in this round")
    return None


def _place_needed(state: RoundState, task: Task, search: Search, need: _Need, moves_left: int) -> Verdict:
    """Place what needs it: beside what runs, above soft capacities, or after making room."""
    attempt = _place_beside(search, task, need)
    if attempt.answer.placement is None and (state.stretches or heap_stretches(state, task.workers)):
        attempt = _overload(search, attempt, need)
    if attempt.answer.placement is None and not attempt.all_free and not task.settings.frozen:
        attempt = _make_room(search, attempt, need)
        moved = moved_executors(need.hosts, attempt.answer.placement)
        if moved > moves_left:
            return need.unmet(f"making room would move {moved} running executors, {moves_left} may move")
    if attempt.answer.placement is None:
        return need.unmet(attempt.answer.result.reason, attempt.answer.result)
    verdict = _verdict(state, task, need, attempt)
    # While executors are held, nothing is proved about all placements of the topology.
    return with_proof(verdict) if attempt.all_free else verdict


def _place_aside(
    state: RoundState, task: Task, narrowed: Task, search: Search, moves_left: int
) -> Verdict | None:
    """Place by permits that leave hosts aside; None if that is impossible while others keep their host.

    Args:
        state: The cluster so far.
        task: The topology.
        narrowed: The topology with these permits.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.
    """
    need = _need(state, narrowed, moves_left)
    if need.barred:
        return None
    attempt = _place_beside(search, narrowed, need)
    # Without a proof: it would hold for some of the hosts only.
    return None if attempt.answer.placement is None else _verdict(state, task, need, attempt)


def _need(state: RoundState, task: Task, moves_left: int) -> _Need:
    """Find out which executors have to be placed, and which of them can be."""
    hosts = state.hosts_of(state.assignment(task.index))
    missing = tuple(executor for executor, host in enumerate(hosts) if host is None)
    displaced = _find_displaced(state, task, hosts)
    # What runs and is permitted nowhere stays where it is: it must not keep others from being placed.
    movable = [group for group in displaced if not _reasons(task, group)]
    judged = missing if missing or movable else tuple(executor for group in displaced for executor in group)
    leaving = tuple(_first_groups(movable, moves_left, alone=state.total_moves() == 0))
    waiting = sum(map(len, movable)) - len(leaving)
    return _Need(hosts, missing, leaving, waiting, barred="; ".join(_reasons(task, judged)))


def _place_beside(search: Search, task: Task, need: _Need, overload: float = 0.0) -> _Attempt:
    """Ask for a placement while all others keep their host, with ever fewer wishes until there is one."""
    fixed = need.fixed()
    for each, how in by_wishes(task):
        answer = ask_as_preferred(search, each, fixed, overload=overload)
        attempt = _Attempt(each, fixed, answer, how, overload)
        if answer.placement is not None:
            break
    return attempt


def _overload(search: Search, failed: _Attempt, need: _Need) -> _Attempt:
    """Ask for a placement that exceeds soft capacities by little; return the failed one if there is none.

    Restarting what runs, to make room, would cost more than a host that is somewhat too full.
    """
    most = _place_beside(search, failed.task, need, _OVERLOADS[-1])
    if most.answer.placement is None:
        return failed
    for overload in _OVERLOADS[:-1]:
        attempt = _place_beside(search, failed.task, need, overload)
        if attempt.answer.placement is not None:
            return attempt
    return most


def _make_room(search: Search, failed: _Attempt, need: _Need) -> _Attempt:
    """Ask whether all executors fit together: the running ones may be in the way.

    Those that are permitted nowhere keep their host.
    """
    task = failed.task
    fixed = [
        host if component in task.permits.reasons else None
        for host, component in zip(need.hosts, task.component.tolist(), strict=True)
    ]
    return _Attempt(task, fixed, search.ask(task, fixed), f" after making room{failed.how}")


def _verdict(state: RoundState, task: Task, need: _Need, attempt: _Attempt) -> Verdict:
    """Return the verdict on an attempt that found a placement; its reason counts who left, and why."""
    result = attempt.answer.result
    broken = {executor for group in _find_displaced(state, task, need.hosts) for executor in group}
    gone = sum(executor not in broken for executor in need.leaving)
    reason = f"placed by {result.author}{attempt.how}"
    if gone:
        reason += f", {gone} moved because readings of their hosts have vanished"
    if len(need.leaving) > gone:
        reason += f", {len(need.leaving) - gone} moved because a pin or avoidance was broken"
    if need.waiting:
        reason += f", {need.waiting} more wait as no more may move in one round"
    placement = attempt.answer.placement
    overloads = (
        (*state.overloads(task.index, placement), *heap_overloads(state, task, placement))
        if attempt.overload and placement
        else ()
    )
    if overloads:
        more = f" and {len(overloads) - _SHOWN} more" if len(overloads) > _SHOWN else ""
        reason += f", above what is declared as it fits no other way ({', '.join(overloads[:_SHOWN])}{more})"
    return Verdict(
        "placed",
        reason,
        placement,
        result,
        evaluation=result.evaluation,
        overload=attempt.overload,
        least=attempt.answer.least,
    )


def _find_displaced(state: RoundState, task: Task, hosts: Sequence[int | None]) -> list[tuple[int, ...]]:
    """Return groups of executors that run where a pin or avoidance forbids it, none of a frozen topology.

    A host that is dead, blacklisted or full is no such reason: what runs there goes on running. But where
    no supervisor would restart the rest of a worker, the whole worker goes.
    """
    if task.settings.frozen:
        return []
    assignment = state.assignment(task.index)
    workers = executors_by_slot(assignment)
    groups: dict[tuple[int, ...], None] = {}
    for executor, (slot, host) in enumerate(zip(assignment, hosts, strict=True)):
        if slot is None or host is None or task.permits.tolerated[task.component[executor], host]:
            continue
        usable = state.request.supervisors[slot[0]].usable
        groups[(executor,) if usable else tuple(sorted(workers[slot]))] = None
    return list(groups)


def _reasons(task: Task, executors: Sequence[int]) -> list[str]:
    """Say why executors of these are permitted nowhere, one phrase per component."""
    components = sorted({int(task.component[executor]) for executor in executors})
    return [task.permits.reasons[component] for component in components if component in task.permits.reasons]


def _first_groups(groups: Sequence[tuple[int, ...]], most: int, *, alone: bool) -> list[int]:
    """Take whole groups, small ones first, as long as their executors are at most `most`.

    Args:
        groups: Executors that leave together.
        most: Most executors.
        alone: Whether a group that is larger than any round allows may go by itself,
            as it would wait for ever.
    """
    taken: list[int] = []
    for group in sorted(groups, key=len):
        if len(taken) + len(group) > most and (taken or not alone or most == 0):
            break
        taken.extend(group)
    return taken
