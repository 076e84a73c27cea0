"""A candidate is a placement beside the running one, with its gain and its moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.round.stability import percent
from scheduler.evaluation.evaluate import check, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.problem_builder import Task
    from bridge.round.search import Question
    from bridge.settings import MoveSettings
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Candidate:
    """A placement beside the running one.

    Attributes:
        placement: Host index per executor.
        evaluation: What it is worth.
        gain: Fraction of the objective saved; negative if it is worse.
        gain_ms: Response time saved, None unless that is all that is weighed.
        moves: Running executors that it moves, beyond those that the round moves already.
    """

    placement: tuple[int, ...]
    evaluation: Evaluation
    gain: float
    gain_ms: float | None
    moves: int

    def why_not(self, thresholds: MoveSettings) -> str:
        """Say why the gain is not enough, without its size, which noise changes; empty if it is."""
        if self.gain <= 0:
            return "no candidate is better"
        if self.gain < thresholds.min_gain:
            return f"no candidate gains {percent(thresholds.min_gain)}"
        if self.gain_ms is not None and self.gain_ms < thresholds.min_gain_ms:
            return f"no candidate gains {thresholds.min_gain_ms:g} ms"
        return ""

    def why_beyond(self, moves_left: int) -> str:
        """Say that it moves too many executors; empty if it does not."""
        if self.moves <= moves_left:
            return ""
        moved = f"moves {self.moves} executors, {moves_left} may move"
        return f"best candidate gains enough but {moved}"


def weigh(
    state: RoundState, task: Task, question: Question, before: Evaluation, placement: tuple[int, ...]
) -> Candidate:
    """Compare a placement with the running one.

    Args:
        state: The cluster so far.
        task: The topology.
        question: Its problem with all executors free.
        before: Worth of the running placement.
        placement: Host index per executor, all of them nodes of the problem.
    """
    after = evaluate(question.problem, question.frame.nodes_of(placement))
    gain, gain_ms = gains(question.problem, before, after)
    # Moves are counted against the beginning of the round, and some of this topology's may be spent already.
    began = state.hosts_of(state.initial(task.index))
    return Candidate(
        placement, after, gain, gain_ms, moved_executors(began, placement) - state.moves(task.index)
    )


def placement_on(state: RoundState, question: Question, hosts: Sequence[str]) -> tuple[int, ...] | None:
    """Return the placement on hosts of these names, None if the problem does not permit it any more.

    Args:
        state: The cluster so far.
        question: The topology's problem with all executors free.
        hosts: Name of the host of each executor.
    """
    index = {state.hosts.hosts[host].name: host for host in question.frame.hosts.tolist()}
    if not all(name in index for name in hosts):
        return None
    placement = tuple(index[name] for name in hosts)
    nodes = np.asarray(question.frame.nodes_of(placement))
    return None if check(question.problem, nodes) else placement


def moved_executors(before: Sequence[int | None], after: Sequence[int] | None) -> int:
    """Number of executors that have a host before and another one after."""
    if after is None:
        return 0
    return sum(old is not None and old != new for old, new in zip(before, after, strict=True))


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
