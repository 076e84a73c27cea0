"""Keep, place or move: what becomes of one topology in one round.

Placing: executors without a slot, and executors whose pin or avoidance is broken, are placed while all others
keep their host; only if that has no solution, on doubtful hosts neither, may the others move to make room.
If executors lost their host, those on hosts that vanished from the readings are placed anew with them: Nimbus
does not give up all hosts of a site at once, and each further round would restart the topology again.
Moving for a gain: a running placement is left only for a candidate that is better by both thresholds, by
delays that are known, has been so for a while, and is within the moves left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from bridge.problem.occupancy import executors_by_slot
from bridge.problem.problem_builder import NoHostError
from bridge.round.candidate import moved_executors, placement_on, weigh
from bridge.round.stability import percent
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.problem_builder import Task
    from bridge.round.candidate import Candidate
    from bridge.round.search import Question, Search
    from bridge.round.sight import Sight
    from bridge.round.stability import Stability
    from bridge.settings import MoveSettings
    from scheduler.base.arrays import BoolArray
    from scheduler.contract.result import Result
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one look at one topology came to.

    Attributes:
        kind: `placed` and `moved` bring a placement; `kept`, `unmet` (all executors run, but a pin or
            avoidance stays broken) and `unplaceable` (executors are missing) do not.
        reason: One phrase for the status line.
        placement: Host index per executor, None unless placed or moved.
        result: What the strategy answered, None if it was not asked.
        gain: Fraction of the objective saved, 0 unless moved.
        evaluation: Worth of the placement that holds after the verdict, None if it is not known.
        bound: Proved lower limit of the objective over all placements of the topology, None if not known.
        optimal: True if it is proved that none of them is better than the one that holds.
    """

    kind: Literal["kept", "placed", "moved", "unmet", "unplaceable"]
    reason: str
    placement: tuple[int, ...] | None = None
    result: Result | None = None
    gain: float = 0.0
    evaluation: Evaluation | None = None
    bound: float | None = None
    optimal: bool = False


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
        # if not all of them have room elsewhere, the lost ones at least go where there is somebody
        for permits in (task.permits.without(sight.vanished), task.permits.closed_to(sight.vanished)):
            narrowed = replace(task, permits=permits)
            verdict = _place_missing(state, narrowed, search, moves_left, asked_for=task)
            if verdict is not None and verdict.kind == "placed":
                return verdict
    return _place_missing(state, task, search, moves_left, asked_for=task)


def _place_missing(
    state: RoundState, task: Task, search: Search, moves_left: int, *, asked_for: Task
) -> Verdict | None:
    """Place by a task, which is the one asked for or leaves hosts aside; then nobody makes room.

    Nothing is proved about the topology then, nor while some of its executors are held.
    """
    whole = task is asked_for
    hosts = [None if slot is None else state.host_of(slot) for slot in state.assignment(task.index)]
    missing = [executor for executor, host in enumerate(hosts) if host is None]
    displaced = _displaced(state, task, hosts)
    if not missing and not displaced:
        return None
    refusal: Literal["unmet", "unplaceable"] = "unplaceable" if missing else "unmet"
    # What runs and is permitted nowhere stays where it is: it must not keep others from being placed.
    movable = [group for group in displaced if not _reasons(task, group)]
    asked = missing if missing or movable else [executor for group in displaced for executor in group]
    reasons = _reasons(task, asked)
    if reasons:
        return Verdict(refusal, "; ".join(reasons))
    moving = _first_groups(movable, moves_left)
    free = {*missing, *moving}
    if not free:
        return None
    fixed = [None if executor in free else host for executor, host in enumerate(hosts)]
    held = len(free) < len(hosts)
    answer = search.ask(task, fixed)
    reason, note = f"placed by {answer.result.strategy}", ""
    if answer.placement is None and task.permits.doubtful.any():
        task = replace(task, permits=task.permits.widened)
        answer = search.ask(task, fixed)
        note = ", some on hosts without a reading as no others have room"
    if answer.placement is None and held and whole and not task.settings.frozen:
        # The running executors may be in the way: look whether all would fit together.
        stuck = [task.component[executor] in task.permits.reasons for executor in range(len(hosts))]
        held = any(stuck)
        answer = search.ask(task, [host if stays else None for host, stays in zip(hosts, stuck, strict=True)])
        moved = moved_executors(hosts, answer.placement)
        if moved > moves_left:
            return Verdict(
                refusal, f"making room would move {moved} running executors, {moves_left} may move"
            )
        reason = f"placed by {answer.result.strategy} after making room"
    if answer.placement is None:
        return Verdict(refusal, answer.result.reason, result=answer.result)
    reason += note
    broken = {executor for group in _displaced(state, asked_for, hosts) for executor in group}
    gone = sum(executor not in broken for executor in moving)
    if gone:
        reason += f", {gone} moved because readings of their hosts have vanished"
    if len(moving) > gone:
        reason += f", {len(moving) - gone} moved because a pin or avoidance was broken"
    verdict = Verdict("placed", reason, answer.placement, answer.result, evaluation=answer.result.evaluation)
    return _with_proof(verdict) if whole and not held else verdict


def improve(
    state: RoundState, task: Task, search: Search, moves_left: int, stability: Stability, *, sight: Sight
) -> Verdict:
    """Look for a better placement of a topology that runs completely.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.
        stability: Knows what must wait, and hears of what is seen.
        sight: Knows which gains rest on missing readings.
    """
    thresholds = stability.settings
    hosts = [state.host_of(slot) for slot in state.assignment(task.index) if slot is not None]
    free, closed = [None] * len(hosts), sight.closed(task)
    try:
        question = search.pose(task, free, closed)
    except NoHostError as error:
        stability.forget(task.index)
        return Verdict("kept", f"no candidate ({error})")
    before = evaluate(question.problem, question.frame.nodes_of(hosts))
    hopeless = _why_no_gain_can_do(question.problem, before, thresholds)
    no_gain = hopeless or sight.why_not(question.problem, hosts)
    if no_gain:
        stability.forget(task.index)
        return Verdict("kept", no_gain, evaluation=before)
    answer = search.ask(task, free, closed)
    result = answer.result
    candidate = _watched_candidate(state, task, question, before, stability, closed=closed)
    if candidate is None and answer.placement is not None:
        candidate = weigh(state, task, question, before, answer.placement)
    if candidate is None:
        stability.forget(task.index)
        return Verdict("kept", f"no candidate ({result.reason})", result=result, evaluation=before)
    reason = candidate.why_not(thresholds)
    unseen = "" if reason else sight.why_not(question.problem, candidate.placement)
    if unseen:
        reason = f"best candidate is not believed, {unseen}"
    if reason or candidate.moves > thresholds.max_moves_per_round:
        # It will not be carried out however long it is watched.
        stability.forget(task.index)
    else:
        names = tuple(state.hosts.hosts[host].name for host in candidate.placement)
        reason = stability.why_wait(task.index, names, candidate.gain)
    reason = reason or candidate.why_beyond(moves_left)
    if reason:
        reason += f" ({result.strategy})"
        return _with_proof(Verdict("kept", reason, result=result, evaluation=before))
    reason = f"moved by {result.strategy} for a gain of {percent(candidate.gain)}"
    return _with_proof(
        Verdict("moved", reason, candidate.placement, result, candidate.gain, candidate.evaluation)
    )


def _watched_candidate(
    state: RoundState,
    task: Task,
    question: Question,
    before: Evaluation,
    stability: Stability,
    *,
    closed: BoolArray,
) -> Candidate | None:
    """Return the placement that is being watched, None if there is none or it brings too little by now."""
    watched = stability.watched(task.index)
    if watched is None:
        return None
    placement = placement_on(state, question, watched.hosts)
    if placement is None:
        # Of a host that is out of sight nobody knows whether the gain is still there.
        unseen = {state.hosts.hosts[host].name for host in np.flatnonzero(closed).tolist()}
        if unseen.isdisjoint(watched.hosts):
            stability.lose(task.index)
        else:
            stability.forget(task.index)
        return None
    candidate = weigh(state, task, question, before, placement)
    settings = stability.settings
    stands = not candidate.why_not(settings) and candidate.moves <= settings.max_moves_per_round
    return candidate if stands else None


def _with_proof(verdict: Verdict) -> Verdict:
    """Add what the strategy proved about all placements of the topology to the verdict on one of them."""
    result, worth = verdict.result, verdict.evaluation
    if result is None or result.evaluation is None or worth is None:
        return verdict
    best = worth.objective <= result.evaluation.objective + OBJECTIVE_STEP
    return replace(verdict, bound=result.bound, optimal=best and result.status == "optimal")


def _why_no_gain_can_do(problem: Problem, before: Evaluation, thresholds: MoveSettings) -> str:
    """Say why no placement at all can pass the thresholds; empty if one might.

    No placement is faster than the least response time of the problem's ranges, a proved bound, so that a
    search would be in vain. Most rounds of a cluster that runs well end here.
    """
    if problem.objective.weights["response_time"] != 1.0:
        return ""
    most_ms = before.response_time_ms - problem.ranges["response_time"][0]
    if most_ms < max(thresholds.min_gain_ms, thresholds.min_gain * before.response_time_ms):
        return f"no placement can gain more than {max(most_ms, 0.0):.1f} ms"
    return ""


def _displaced(state: RoundState, task: Task, hosts: Sequence[int | None]) -> list[tuple[int, ...]]:
    """Groups of executors that run where a pin or avoidance forbids it; none if the topology is frozen.

    A host that is dead, blacklisted or full is no such reason: what runs there goes on running. But where
    nobody would restart the rest of a worker, the whole worker goes.
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


def _first_groups(groups: Sequence[tuple[int, ...]], most: int) -> list[int]:
    """Take whole groups from the first on, as long as their executors are at most `most`."""
    taken: list[int] = []
    for group in groups:
        if len(taken) + len(group) > most:
            break
        taken.extend(group)
    return taken
