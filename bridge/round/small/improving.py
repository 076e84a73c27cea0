"""Move a topology that runs completely, for a gain.

A running placement is left only for a candidate that is better by both thresholds, by delays that are known,
and has been so for a while. One that restarts more executors than a round allows takes several of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.problem_builder import NoHostError
from bridge.round.small.candidate import Running, best_of, placement_on, weigh
from bridge.round.small.preferring import ask_as_preferred
from bridge.round.small.several_rounds import SeveralRounds
from bridge.round.small.slots import count_workers
from bridge.round.small.verdict import Verdict, with_proof
from scheduler.evaluation.evaluate import evaluate
from scheduler.moving.noise import gain_noise
from scheduler.moving.reading_errors import ReadingErrors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.delays import Delays
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.candidate import Candidate
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.sight import Sight
    from bridge.round.small.stability import Stability
    from bridge.settings import MoveSettings
    from scheduler.base.arrays import BoolArray
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


# Each draw evaluates two placements on the hosts that they use: enough of them to tell noise from twice the
# noise, and fewer for large topologies, of which 32 would take half of a round.
_MOST_DRAWS, _LEAST_DRAWS = 32, 8
_DRAWN_STREAMS = 16_000


def improve(
    state: RoundState, task: Task, search: Search, restarts_left: int, stability: Stability, *, sight: Sight
) -> Verdict:
    """Look for a better placement of a topology that runs completely.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        restarts_left: Running executors that may still restart in this round.
        stability: Knows what must wait, and records what is seen.
        sight: Knows which gains rest on missing readings.
    """
    hosts = [state.host_of(slot) for slot in state.assignment(task.index) if slot is not None]
    free, closed = [None] * len(hosts), sight.closed(task) | task.unfavored
    task = replace(task, migration_left=_migration_left(state, task, hosts))
    try:
        question = search.pose(task, free, closed)
    except NoHostError as error:
        stability.forget(task.index)
        return Verdict("kept", f"no candidate ({error})")
    before = evaluate(question.problem, question.frame.nodes_of(hosts))
    running = Running(state, task, question, before)
    rounds = SeveralRounds(running, search, stability, restarts_left)
    begun = stability.begun(task.index)
    if begun is not None:
        return rounds.go_on(begun, sight)
    hopeless = _why_no_gain_can_do(question.problem, before, stability.settings)
    no_gain = hopeless or sight.why_not(question.problem, hosts)
    if no_gain:
        stability.forget(task.index)
        return Verdict("kept", no_gain, evaluation=before)
    answer = ask_as_preferred(search, task, free, closed)
    return _look(running, search, rounds, stability, answer, closed=closed, sight=sight)


def _migration_left(state: RoundState, task: Task, hosts: Sequence[int]) -> float | None:
    """Return what of the budget of moves this round has left; None if the topology has none."""
    most = task.settings.budget_migration
    began = [state.host_of(slot) for slot in state.initial(task.index) if slot is not None]
    if most is None or len(began) < len(hosts):
        return most
    return max(most - task.pricing.price(began, hosts), 0.0)


def _look(
    running: Running,
    search: Search,
    rounds: SeveralRounds,
    stability: Stability,
    answer: Answer,
    *,
    closed: BoolArray,
    sight: Sight,
) -> Verdict:
    """Weigh candidates; carry the best one out, let it wait, or say why it will not do."""
    task, question, before = running.task, running.question, running.before
    result = answer.result
    candidate = _watched_candidate(running, stability, rounds, closed)
    if candidate is None:
        candidate = _best_candidate(running, search, rounds, answer, stability.settings)
    if candidate is None:
        stability.forget(task.index)
        return Verdict("kept", f"no candidate ({result.reason})", result=result, evaluation=before)
    reason = candidate.why_not(stability.settings) or _why_other_workers(running, candidate)
    unseen = "" if reason else sight.why_not(question.problem, candidate.placement)
    if unseen:
        reason = f"best candidate is not believed, {unseen}"
    reason = reason or rounds.why_never(candidate)
    reason = reason or _why_noise(running, candidate, search.delays, stability.settings)
    if reason:
        # It will not be carried out however long it is watched.
        stability.forget(task.index)
    else:
        reason = stability.why_wait(task.index, running.names(candidate.placement), candidate.gain)
    if reason:
        verdict = Verdict("kept", f"{reason} ({result.author})", result=result, evaluation=before)
    else:
        verdict = rounds.carry_out(candidate, answer)
    return with_proof(verdict)


def _best_candidate(
    running: Running, search: Search, rounds: SeveralRounds, answer: Answer, thresholds: MoveSettings
) -> Candidate | None:
    """Weigh the strategy's placement, and the one that steps from the running one lead to."""
    nearby = search.nearby(running.task, running.question)
    found = [weigh(running, each) for each in (answer.placement, nearby) if each is not None]
    # What is worth it but cannot be carried out gives way to what can.
    possible = [
        each
        for each in found
        if not (each.why_not(thresholds) or _why_other_workers(running, each) or rounds.why_never(each))
    ]
    return best_of(possible or found)


def _watched_candidate(
    running: Running, stability: Stability, rounds: SeveralRounds, closed: BoolArray
) -> Candidate | None:
    """Return the placement that is being watched, None if there is none or it brings too little by now."""
    topology, hosts = running.task.index, running.state.hosts.hosts
    watched = stability.watched(topology)
    if watched is None:
        return None
    placement = placement_on(running, watched.hosts)
    if placement is None:
        # Whether the gain is still there cannot be known for a host that is out of sight.
        unseen = {hosts[host].name for host in np.flatnonzero(closed).tolist()}
        if unseen.isdisjoint(watched.hosts):
            stability.lose(topology)
        else:
            stability.forget(topology)
        return None
    candidate = weigh(running, placement)
    stands = not candidate.why_not(stability.settings) and not rounds.why_never(candidate)
    return candidate if stands else None


def _why_other_workers(running: Running, candidate: Candidate) -> str:
    """Say that the number of workers of a candidate is further from the one asked for; empty if it is not."""
    state, task = running.state, running.task
    asked = task.workers.asked
    now = len(set(state.assignment(task.index)))
    workers = count_workers(state, task.index, candidate.placement, task.workers) if asked > 1 else now
    if workers > max(asked, now):
        return f"best candidate takes more workers than the {asked} that were asked for"
    if workers < min(asked, now):
        return f"best candidate takes fewer workers than the {asked} that were asked for"
    return ""


def _why_noise(running: Running, candidate: Candidate, delays: Delays, thresholds: MoveSettings) -> str:
    """Say that a gain may be noise of the measured delays; empty if it is above that.

    Without its size, which noise changes.
    """
    if thresholds.noise_sigmas <= 0:
        return ""
    frame, problem = running.question.frame, running.question.problem
    errors = ReadingErrors(delay_ms=delays.error_ms(frame.hosts))
    size = problem.n_ops + len(problem.application.streams)
    draws = min(max(_DRAWN_STREAMS // size, _LEAST_DRAWS), _MOST_DRAWS)
    noise = gain_noise(problem, frame.current, frame.nodes_of(candidate.placement), errors, draws=draws)
    gain = running.before.objective - candidate.evaluation.objective
    if gain > thresholds.noise_sigmas * noise:
        return ""
    return "the gain of the best candidate may be noise of the measured delays"


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
