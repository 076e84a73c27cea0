"""Keep, place or move: what becomes of one topology in one round.

Placing: executors without a slot, and executors whose pin or avoidance is broken, are placed while all others
keep their host; only if that has no solution may the others move to make room. Moving for a gain: a running
placement is left only for a candidate that is better by both thresholds and within the moves left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bridge.problem_builder import NoHostError
from bridge.round_state import executors_by_slot
from scheduler.evaluation import OBJECTIVE_STEP, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem_builder import Task
    from bridge.round_state import RoundState
    from bridge.search import Search
    from bridge.settings import MoveSettings
    from scheduler.evaluation import Evaluation
    from scheduler.problem import Problem
    from scheduler.result import Result


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


def place_missing(state: RoundState, task: Task, search: Search, moves_left: int) -> Verdict | None:
    """Place executors that have no slot or whose pin or avoidance is broken.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.

    Returns:
        None if there is nothing to place.
    """
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
    reason = f"placed by {answer.result.strategy}"
    if answer.placement is None and held and not task.settings.frozen:
        # The running executors may be in the way: look whether all would fit together.
        stuck = [task.component[executor] in task.reasons for executor in range(len(hosts))]
        held = any(stuck)
        answer = search.ask(task, [host if stays else None for host, stays in zip(hosts, stuck, strict=True)])
        moved = _moved(hosts, answer.placement)
        if moved > moves_left:
            return Verdict(
                refusal, f"making room would move {moved} running executors, {moves_left} may move"
            )
        reason = f"placed by {answer.result.strategy} after making room"
    if answer.placement is None:
        return Verdict(refusal, answer.result.reason, result=answer.result)
    if moving:
        reason += f", {len(moving)} moved because a pin or avoidance was broken"
    verdict = Verdict("placed", reason, answer.placement, answer.result, evaluation=answer.result.evaluation)
    return verdict if held else _with_proof(verdict)


def improve(
    state: RoundState, task: Task, search: Search, moves_left: int, thresholds: MoveSettings
) -> Verdict:
    """Look for a better placement of a topology that runs completely.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.
        thresholds: Least gains.
    """
    hosts = [state.host_of(slot) for slot in state.assignment(task.index) if slot is not None]
    try:
        question = search.pose(task, [None] * len(hosts))
    except NoHostError as error:
        return Verdict("kept", f"no candidate ({error})")
    before = evaluate(question.problem, question.frame.nodes_of(hosts))
    hopeless = _why_no_gain_can_do(question.problem, before, thresholds)
    if hopeless:
        return Verdict("kept", hopeless, evaluation=before)
    answer = search.ask(task, [None] * len(hosts))
    after, placement = answer.result.evaluation, answer.placement
    if after is None or placement is None:
        return Verdict(
            "kept", f"no candidate ({answer.result.reason})", result=answer.result, evaluation=before
        )
    gain, gain_ms = gains(question.problem, before, after)
    # Moves are counted against the beginning of the round, and some of this topology's may be spent already.
    began = [None if slot is None else state.host_of(slot) for slot in state.initial(task.index)]
    moved = _moved(began, placement) - state.moves(task.index)
    reason = ""
    if gain <= 0:
        reason = "no candidate is better"
    elif gain < thresholds.min_gain:
        reason = f"best candidate gains {_percent(gain)} < {_percent(thresholds.min_gain)}"
    elif gain_ms is not None and gain_ms < thresholds.min_gain_ms:
        reason = f"best candidate gains {gain_ms:.1f} ms < {thresholds.min_gain_ms:.1f} ms"
    elif moved > moves_left:
        reason = f"best candidate gains {_percent(gain)} but moves {moved} executors, {moves_left} may move"
    if reason:
        reason += f" ({answer.result.strategy})"
        return _with_proof(Verdict("kept", reason, result=answer.result, evaluation=before))
    reason = f"moved by {answer.result.strategy} for a gain of {_percent(gain)}"
    return _with_proof(Verdict("moved", reason, placement, answer.result, gain, after))


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


def gains(problem: Problem, before: Evaluation, after: Evaluation) -> tuple[float, float | None]:
    """Return the gain as a fraction, and in ms where the response time is all that is weighed.

    With the response time alone the fraction is of the response time itself: F leaves out the part of it that
    no placement can avoid, so that a fraction of F would exaggerate.
    """
    if problem.objective.weights["response_time"] == 1.0:
        saved_ms = before.response_time_ms - after.response_time_ms
        return (saved_ms / before.response_time_ms if before.response_time_ms > 0 else 0.0), saved_ms
    saved = before.objective - after.objective
    return (saved / before.objective if before.objective > 0 else 0.0), None


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
        if slot is None or host is None or task.wanted[task.component[executor], host]:
            continue
        usable = state.request.supervisors[slot[0]].usable
        groups[(executor,) if usable else tuple(sorted(workers[slot]))] = None
    return list(groups)


def _reasons(task: Task, executors: Sequence[int]) -> list[str]:
    """Say why executors of these are permitted nowhere, one phrase per component."""
    components = sorted({int(task.component[executor]) for executor in executors})
    return [task.reasons[component] for component in components if component in task.reasons]


def _first_groups(groups: Sequence[tuple[int, ...]], most: int) -> list[int]:
    """Take whole groups from the first on, as long as their executors are at most `most`."""
    taken: list[int] = []
    for group in groups:
        if len(taken) + len(group) > most:
            break
        taken.extend(group)
    return taken


def _moved(before: Sequence[int | None], after: Sequence[int] | None) -> int:
    if after is None:
        return 0
    return sum(old is not None and old != new for old, new in zip(before, after, strict=True))


def _percent(fraction: float) -> str:
    return f"{fraction * 100:.0f} %"
