"""A change that restarts more than one round allows, as a sequence of rounds that each carry out a part.

Executors that leave one worker go together, as it restarts in any case. Each part is feasible, restarts no
more than its round allows, and leaves the objective no worse than it was: a sequence that is broken off at
any time has done no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.assignment import executors_by_slot
from bridge.round.small.slots import NoSlotError, assign_slots
from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.evaluate import OBJECTIVE_STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.round_limits import RoundLimits
    from bridge.round.small.search import Question
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline

MOST_ROUNDS = 8
"""Rounds of a sequence: each restarts executors, some of them again and again."""


@dataclass(frozen=True)
class Part:
    """What one round carries out.

    Attributes:
        placement: Host index per executor after it.
        assignment: Slot per executor after it.
        apart: Whether executors that move take free slots before they join workers.
    """

    placement: tuple[int, ...]
    assignment: tuple[Slot, ...]
    apart: bool


def split(
    state: RoundState,
    task: Task,
    question: Question,
    target: Sequence[int],
    *,
    first: RoundLimits,
    later: RoundLimits,
    deadline: Deadline,
) -> tuple[Part, ...]:
    """Return the parts that lead to a placement, one per round; none if no such sequence is found in time.

    Args:
        state: The cluster so far.
        task: The topology; all of its executors run.
        question: Its problem with all executors free.
        target: Host index per executor in the end.
        first: What this round may restart and move, with what it does already.
        later: What each later round may.
        deadline: When to give up.
    """
    judge = _Judge(question)
    parts: list[Part] = []
    limits = first
    while len(parts) < MOST_ROUNDS:
        part = _next_part(state, task, judge, target, limits=limits, deadline=deadline)
        if part is None:
            return ()
        parts.append(part)
        if part.placement == tuple(target):
            return tuple(parts)
        state = state.carried_out(task.index, part.assignment)
        limits = later
    return ()


class _Judge:
    """Evaluates many placements of one problem at once."""

    def __init__(self, question: Question) -> None:
        self._frame = question.frame
        self._worth = BatchEvaluator(question.problem)
        self._constraints = BatchConstraints(question.problem)

    def __call__(self, placements: IntArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return F, mean delay (ms) and feasibility, each (n,), of placements, host per (executor, n)."""
        nodes = self._frame.nodes_of(placements)
        return *self._worth(nodes), self._constraints.met(nodes)


def _next_part(
    state: RoundState,
    task: Task,
    judge: _Judge,
    target: Sequence[int],
    *,
    limits: RoundLimits,
    deadline: Deadline,
) -> Part | None:
    """Take worker after worker to where its executors belong, best objective first; return the best prefix.

    A prefix may be infeasible, or worse than staying, as long as a longer one is neither: two workers that
    trade places need each other's room.

    Complexity: at most one evaluation per pair of workers whose executors move.
    """
    running = [state.host_of(slot) for slot in state.assignment(task.index) if slot is not None]
    hosts = np.array(running, dtype=np.int64)
    goal = np.array(target, dtype=np.int64)
    groups = _groups(state, task.index, hosts != goal, limits.moves or task.topology.n_executors)
    least = float(judge(hosts[:, None])[0][0]) + OBJECTIVE_STEP
    best: Part | None = None
    while groups and not deadline.expired():
        options = np.repeat(hosts[:, None], len(groups), axis=1)
        for column, group in enumerate(groups):
            options[group, column] = goal[group]
        objective, mean_delay_ms, met = judge(options)
        for column in np.lexsort((mean_delay_ms, objective, ~met)).tolist():
            part = _part(state, task, tuple(options[:, column].tolist()), limits)
            if part is not None:
                break
        else:
            break
        if met[column] and objective[column] <= least:
            best, least = part, float(objective[column])
        hosts = options[:, column]
        del groups[column]
    return best


def _groups(state: RoundState, topology: int, moving: BoolArray, most: int) -> list[list[int]]:
    """Return the executors that move, those of one worker together, but no more than may move in a round."""
    workers = executors_by_slot(state.assignment(topology)).values()
    leaving = [[executor for executor in sorted(worker) if moving[executor]] for worker in workers]
    return [each[first : first + most] for each in leaving for first in range(0, len(each), most)]


def _part(state: RoundState, task: Task, placement: tuple[int, ...], limits: RoundLimits) -> Part | None:
    """Return the part that leads to a placement, None if it restarts, moves or needs too much.

    Executors join the topology's worker on a host, but take a slot of their own if that spares the worker.
    """
    strict = state.limits != "off"
    workers = max(task.workers.asked, len(set(state.assignment(task.index))))
    for apart in (False, True):
        try:
            assignment = assign_slots(state, task.index, placement, task.workers, strict=strict, apart=apart)
        except NoSlotError:
            # The slots are those of workers that another part has to move first.
            continue
        many = task.workers.asked > 1 and len(set(assignment)) > workers
        if not (many or limits.why_not(state, task.index, assignment)):
            return Part(placement, assignment, apart)
    return None
