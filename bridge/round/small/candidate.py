"""A candidate is a placement beside the running one, with its gain and what it restarts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.round.small.slots import assign_slots, count_workers
from bridge.round.small.stability import percent
from bridge.round.small.thresholds import gain_of
from bridge.round.small.verdict import Verdict
from scheduler.evaluation.evaluate import check, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.small.search import Question
    from bridge.round.small.thresholds import Gain, Thresholds
    from scheduler.base.arrays import IntArray
    from scheduler.contract.result import Result
    from scheduler.evaluation.evaluate import Evaluation


# Gains that differ by less, as fractions, are not worth another restart.
_ABOUT_THE_SAME = 0.01


@dataclass(frozen=True, eq=False)
class Running:
    """A topology of which all executors run.

    Attributes:
        state: The cluster so far.
        task: The topology.
        question: Its problem with all executors free.
        before: Worth of the running placement.
        thresholds: What a gain has to exceed.
        broken: Which of the topology's own limits it breaks; empty if none.
    """

    state: RoundState
    task: Task
    question: Question
    before: Evaluation
    thresholds: Thresholds
    broken: str = ""

    def saving(self, placement: Sequence[int]) -> float:
        """Fraction of the objective that is saved against what ran when the round began.

        Where that cannot be compared any more it is the fraction saved against what runs by now.

        Args:
            placement: Host index per executor.
        """
        return self.since_began(placement).fraction

    def since_began(self, placement: Sequence[int]) -> Gain:
        """Return what a placement gains against what ran when the round began, or by now, as `saving`.

        Args:
            placement: Host index per executor.
        """
        began = [
            -1 if slot is None else self.state.host_of(slot) for slot in self.state.initial(self.task.index)
        ]
        frame = self.question.frame
        known = bool(np.isin(began, frame.hosts).all())
        return self.gains_from(frame.nodes_of(began) if known else frame.current, placement)

    def moved(
        self,
        reason: str,
        placement: tuple[int, ...],
        result: Result | None,
        after: Evaluation,
        *,
        least: int = 0,
        apart: bool = False,
    ) -> Verdict:
        """Return the verdict that the topology moves, with what that is worth beside staying.

        Args:
            reason: One phrase for the status line.
            placement: Host index per executor.
            result: What the strategy answered, None if it was not asked.
            after: What the placement is worth.
            least: Executors for which it takes each host to have room that states no number of them.
            apart: Whether executors that move take free slots before they join workers.
        """
        gain = self.since_began(placement)
        # Where executors were missing there is no staying.
        whole = None not in self.state.initial(self.task.index)
        return Verdict(
            "moved",
            reason,
            placement,
            result,
            gain.fraction,
            after,
            least=least,
            apart=apart,
            objective_before=after.objective + gain.of_f if whole and gain.ms is None else None,
            payback_s=gain.payback_s if whole else None,
        )

    def gains_from(self, start: IntArray, placement: Sequence[int]) -> Gain:
        """Return what a placement gains against another one, priced from there.

        Args:
            start: (n_executors,) node of each executor in the other one.
            placement: Host index per executor.
        """
        problem = self.question.problem
        if problem.application.state_mb.any() or problem.network.shared_pull_s.any():
            problem = replace(problem, current=start)
        nodes = self.question.frame.nodes_of(placement)
        return gain_of(problem, evaluate(problem, start), evaluate(problem, nodes))

    def why_not(self, gain: Gain) -> str:
        """Say why a gain is not enough; empty if it is, or if the topology has to move whatever it gains."""
        return "" if self.broken else self.thresholds.why_not(gain, self.within)

    @property
    def within(self) -> str:
        """The limits that all candidates keep, as they follow the word candidate; empty without any."""
        budget = ["budget.migration"] if self.task.migration_left is not None else []
        limits = [*self.task.bounds, *budget]
        return f" within {' and '.join(limits)}" if limits else ""

    def said(self, reason: str) -> str:
        """Return why it stays, after the limits that it breaks."""
        return f"{self.broken}: {reason}" if self.broken else reason

    def why_moved(self, placement: Sequence[int]) -> str:
        """Say what another placement is for.

        Args:
            placement: Host index per executor.
        """
        return f"as {self.broken}" if self.broken else f"for a gain of {percent(self.saving(placement))}"

    def names(self, placement: Sequence[int]) -> tuple[str, ...]:
        """Name of the host of each executor, from its index."""
        return tuple(self.state.hosts.hosts[host].name for host in placement)

    def nodes_named(self, hosts: Sequence[str]) -> IntArray | None:
        """Node of each executor from the name of its host, None if one of them is no node of the problem."""
        index = {self.state.hosts.hosts[host].name: host for host in self.question.frame.hosts.tolist()}
        if not all(name in index for name in hosts):
            return None
        return self.question.frame.nodes_of([index[name] for name in hosts])


@dataclass(frozen=True)
class Candidate:
    """A placement beside the running one.

    Attributes:
        placement: Host index per executor.
        evaluation: What it is worth.
        gain: What it gains over that.
        restarts: Running executors that it restarts, beyond those that the round restarts already.
        slots: Slot per executor.
    """

    placement: tuple[int, ...]
    evaluation: Evaluation
    gain: Gain
    restarts: int
    slots: tuple[Slot, ...]


def weigh(running: Running, placement: tuple[int, ...]) -> Candidate:
    """Compare a placement with the running one.

    Args:
        running: The topology.
        placement: Host index per executor, all of them nodes of the problem.
    """
    state, topology, question = running.state, running.task.index, running.question
    after = evaluate(question.problem, question.frame.nodes_of(placement))
    gain = gain_of(question.problem, running.before, after)
    # Restarts are counted against the beginning of the round, and some may be spent already.
    strict = state.limits != "off"
    slots = assign_slots(state, topology, placement, running.task.workers, strict=strict)
    restarts = state.restarts_by(topology, slots)
    return Candidate(placement, after, gain, restarts - state.restarts(topology), slots)


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the one of most gain, of those of about the same the one that restarts fewest executors."""
    most = max((each.gain.fraction for each in candidates), default=0.0)
    about = [each for each in candidates if each.gain.fraction >= most - _ABOUT_THE_SAME]
    return min(about, key=lambda each: (each.restarts, -each.gain.fraction), default=None)


def placement_on(running: Running, hosts: Sequence[str]) -> tuple[int, ...] | None:
    """Return the placement on hosts of these names, None if the problem does not permit it any more.

    Args:
        running: The topology.
        hosts: Name of the host of each executor.
    """
    nodes = running.nodes_named(hosts)
    if nodes is None or check(running.question.problem, nodes):
        return None
    placement, state, task = running.question.frame.hosts_of(nodes), running.state, running.task
    n_workers = count_workers(state, task.index, placement, task.workers, strict=state.limits != "off")
    return placement if n_workers else None
