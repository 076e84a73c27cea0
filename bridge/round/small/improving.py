"""Move a topology that runs completely, for a gain.

A running placement is left only for a candidate that is better by both thresholds, by delays that are known,
and has been so for a while. One that restarts more executors than a round allows takes several of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.frame import NoHostError
from bridge.round.small.broken_bounds import broken_bounds, takes_too_long
from bridge.round.small.candidate import Running, best_of, placement_on, weigh
from bridge.round.small.looking_ahead import Prospect
from bridge.round.small.noise import why_noise
from bridge.round.small.preferring import ask_as_preferred
from bridge.round.small.several_rounds import SeveralRounds
from bridge.round.small.slots import count_workers
from bridge.round.small.verdict import Verdict, with_proof
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.candidate import Candidate
    from bridge.round.small.joining import Allowance
    from bridge.round.small.looking_ahead import Ahead
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.sight import Sight
    from bridge.round.small.stability import Stability
    from scheduler.base.arrays import BoolArray


def improve(
    state: RoundState,
    task: Task,
    search: Search,
    allowance: Allowance,
    stability: Stability,
    *,
    sight: Sight,
) -> Verdict:
    """Look for a better placement of a topology that runs completely, or for one within its own limits.

    Args:
        state: The cluster so far.
        task: The topology.
        search: Asks strategies.
        allowance: What the round may still restart, and for which gains.
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
    thresholds = allowance.thresholds
    broken = broken_bounds(task, question.problem)
    running = Running(state, task, question, before, thresholds, broken)
    rounds = SeveralRounds(running, search, stability, allowance)
    begun = stability.begun(task.index)
    if begun is not None and (broken or not allowance.no_gain):
        return rounds.go_on(begun, sight)
    reason = ""
    if not broken:
        reason = allowance.no_gain or thresholds.why_hopeless(question.problem, before)
        if stability.watched(task.index) is None:
            reason = reason or stability.looks.why_not_yet(task)
    reason = reason or sight.why_not(question.problem, hosts)
    if reason:
        stability.forget(task.index)
        return Verdict("kept", running.said(reason), evaluation=before)
    answer = ask_as_preferred(search, task, _bound(running), closed)
    prospect = Prospect.of(running, stability.settings.look_ahead_hours)
    ahead = None if prospect is None else prospect.choose(search, answer, stability)
    verdict = _look(running, search, rounds, stability, answer, closed=closed, sight=sight, ahead=ahead)
    if verdict.kind == "kept" and stability.watched(task.index) is None:
        stability.looks.note(task, verdict.reason)
    return verdict


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
    ahead: Ahead | None,
) -> Verdict:
    """Weigh candidates; carry the best one out, let it wait, or say why it will not do."""
    task, question, before = running.task, running.question, running.before
    result = answer.result
    candidate = _watched_candidate(running, stability, rounds, closed) if ahead is None else ahead.candidate
    if candidate is None and ahead is None:
        candidate = _best_candidate(running, search, rounds, answer)
    if candidate is None:
        stability.forget(task.index)
        why = f"no candidate{running.within} ({result.reason})" if ahead is None else ahead.why_not
        return Verdict("kept", running.said(why), result=result, evaluation=before)
    reason = running.why_not(candidate.gain) if ahead is None else ""
    reason = reason or _why_other_workers(running, candidate)
    unseen = "" if reason else sight.why_not(question.problem, candidate.placement)
    if unseen:
        reason = f"best candidate is not believed, {unseen}"
    reason = reason or rounds.why_never(candidate)
    if not (reason or running.broken or ahead):
        reason = why_noise(running, candidate, search)
    if reason:
        # It will not be carried out however long it is watched.
        stability.forget(task.index)
    else:
        names, gain = running.names(candidate.placement), candidate.gain.fraction
        what = "a move" if running.broken else "a gain"
        reason = stability.why_wait(task.index, names, gain, what)
    if reason:
        reason = running.said(f"{reason} ({result.author})")
        verdict = Verdict("kept", reason, result=result, evaluation=before)
    else:
        verdict = rounds.carry_out(candidate, answer)
        verdict = verdict if ahead is None else ahead.noted(verdict)
    return with_proof(verdict)


def _best_candidate(
    running: Running, search: Search, rounds: SeveralRounds, answer: Answer
) -> Candidate | None:
    """Weigh the strategy's placement, and the one that steps from the running one lead to."""
    nearby = search.nearby(running.task, running.question)
    found = [weigh(running, each) for each in (answer.placement, nearby) if each is not None]
    # What is worth it but cannot be carried out gives way to what can.
    possible = [
        each
        for each in found
        if not (running.why_not(each.gain) or _why_other_workers(running, each) or rounds.why_never(each))
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
    stands = not running.why_not(candidate.gain) and not rounds.why_never(candidate)
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


def _bound(running: Running) -> list[int | None]:
    """Return the host that every executor keeps, None for those that may move."""
    task, state, problem = running.task, running.state, running.question.problem
    free: list[int | None] = [None] * task.topology.n_executors
    if task.settings.replan_persistence != "pin":
        return free
    slow = takes_too_long(task, problem)
    hosts = state.hosts_of(state.assignment(task.index))
    # A budget of cost is one of all executors: any of them may be the one that has to move.
    return [None if late else host for late, host in zip(slow, hosts, strict=True)] if slow.any() else free
