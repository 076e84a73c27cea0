"""Move a topology that runs completely, for a gain.

A running placement is left only for a candidate that is better by both thresholds, by delays that are known,
has been so for a while, and is within the moves left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.problem_builder import NoHostError
from bridge.round.candidate import placement_on, weigh
from bridge.round.preferring import ask_as_preferred
from bridge.round.slots import count_workers
from bridge.round.stability import percent
from bridge.round.verdict import Verdict, with_proof
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from bridge.problem.occupancy import RoundState
    from bridge.problem.problem_builder import Task
    from bridge.round.candidate import Candidate
    from bridge.round.search import Question, Search
    from bridge.round.sight import Sight
    from bridge.round.stability import Stability
    from bridge.settings import MoveSettings
    from scheduler.base.arrays import BoolArray
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


def improve(
    state: RoundState, task: Task, search: Search, moves_left: int, stability: Stability, *, sight: Sight
) -> Verdict:
    """Look for a better placement of a topology that runs completely.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        moves_left: Running executors that may still move in this round.
        stability: Knows what must wait, and records what is seen.
        sight: Knows which gains rest on missing readings.
    """
    thresholds = stability.settings
    hosts = [state.host_of(slot) for slot in state.assignment(task.index) if slot is not None]
    free, closed = [None] * len(hosts), sight.closed(task) | task.unfavored
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
    answer = ask_as_preferred(search, task, free, closed)
    result = answer.result
    candidate = _watched_candidate(state, task, question, before, stability, closed=closed)
    if candidate is None and answer.placement is not None:
        candidate = weigh(state, task, question, before, answer.placement)
    if candidate is None:
        stability.forget(task.index)
        return Verdict("kept", f"no candidate ({result.reason})", result=result, evaluation=before)
    reason = candidate.why_not(thresholds) or _why_more_workers(state, task, candidate)
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
        reason += f" ({result.author})"
        return with_proof(Verdict("kept", reason, result=result, evaluation=before))
    reason = f"moved by {result.author} for a gain of {percent(candidate.gain)}"
    return with_proof(
        Verdict(
            "moved",
            reason,
            candidate.placement,
            result,
            candidate.gain,
            candidate.evaluation,
            least=answer.least,
        )
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
        # Whether the gain is still there cannot be known for a host that is out of sight.
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


def _why_more_workers(state: RoundState, task: Task, candidate: Candidate) -> str:
    """Say that a candidate takes more workers than are asked for and than there are; empty if it does not."""
    asked = task.workers.asked
    most = max(asked, len(set(state.assignment(task.index))))
    workers = count_workers(state, task.index, candidate.placement, task.workers) if asked > 1 else 0
    if workers <= most:
        return ""
    return f"best candidate takes {workers} workers, {asked} were asked for"


def _why_no_gain_can_do(problem: Problem, before: Evaluation, thresholds: MoveSettings) -> str:
    """Say why no placement at all can pass the thresholds; empty if one might.

    No placement is faster than the least response time of the problem's ranges, a proved bound, so that a
    search would be in vain. Most rounds of a cluster that runs well end here.
    """
    if problem.objective.weights["response_time"] != 1.0:
        return ""
    most_ms = before.response_time_ms - problem.ranges["response_time"][0]
    if most_ms < max(thresholds.min_gain_ms, thresholds.min_gain * before.response_time_ms):
        return "no placement can gain enough"
    return ""
