"""A topology's strategy is asked at most once for the same placement within a round."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.children.time_limit import TimeLimit
from bridge.problem.frame import NoHostError, make_frame
from bridge.problem.links.strategy_parameters import parameters_of
from bridge.problem.problem_builder import build_problem
from bridge.round.small.slots import count_workers
from scheduler.contract.children import INLINE
from scheduler.contract.result import Result
from scheduler.evaluation.evaluate import check
from scheduler.plan import plan
from scheduler.search.descent import Descent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bridge.problem.frame import Frame
    from bridge.problem.links.bandwidth_book import BandwidthBook, BandwidthLeft
    from bridge.problem.network_part import Surroundings
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.children import Children
    from scheduler.model.problem import Problem


# Each is the best meeting of two executors, the best replacement of a host, and the best single move.
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Question:
    """What a strategy can be asked about a topology.

    Attributes:
        problem: The placement problem.
        frame: How its nodes and the hosts belong together.
    """

    problem: Problem
    frame: Frame


@dataclass(frozen=True, eq=False)
class Answer:
    """What a strategy answered.

    Attributes:
        result: The strategy's result, in nodes.
        placement: Host index per executor, None if the strategy found no placement.
        workers: How many workers that takes, 0 without a placement.
        least: Executors for which there was room on each host that states no number of them.
    """

    result: Result
    placement: tuple[int, ...] | None
    workers: int = 0
    least: int = 0


class Search:
    """Strategies at work in one round.

    Args:
        state: The cluster so far.
        around: The network.
        deadline_for: Makes the deadline of the next question about a topology.
        children: Runs what strategies leave to others, such as solvers.
        availability_error: (n_hosts,) standard error of the fractions of time that hosts are up; None: they
            are exact.
        book: What topologies send between sites; None where bandwidths do not count.

    Attributes:
        state: The cluster so far.
        around: The network.
        availability_error: (n_hosts,) standard error of the fractions of time that hosts are up.
        timed_out: True once the clock may have changed a strategy's answer.
    """

    def __init__(
        self,
        state: RoundState,
        around: Surroundings,
        deadline_for: Callable[[Task], Deadline],
        children: Children = INLINE,
        *,
        availability_error: FloatArray | None = None,
        book: BandwidthBook | None = None,
    ) -> None:
        self.availability_error = availability_error
        self.state = state
        self.around = around
        self._book = book
        self._deadline_for = deadline_for
        self._children = children
        self.timed_out = False
        self._questions: dict[tuple[int, bytes], Question] = {}
        self._answers: dict[tuple[int, bytes], Answer] = {}
        self._nearby: dict[tuple[int, bytes], tuple[int, ...] | None] = {}

    def pose(
        self,
        task: Task,
        fixed: Sequence[int | None],
        closed: BoolArray | None = None,
        overload: float = 0.0,
    ) -> Question:
        """Make the question about a topology without asking it.

        Args:
            task: The topology.
            fixed: Per executor the host that it must keep, None if it is free.
            closed: (n_hosts,) hosts to which no executor may come, None if there are none.
            overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.

        Raises:
            NoHostError: No host is open to it.
        """
        frame = make_frame(self.state, task, fixed, closed, overload, bandwidth=self._left(task))
        key = (task.index, frame.key)
        if key not in self._questions:
            problem = build_problem(self.state, task, frame, self.around)
            self._questions[key] = Question(problem, frame)
        return self._questions[key]

    def ask(
        self,
        task: Task,
        fixed: Sequence[int | None],
        closed: BoolArray | None = None,
        overload: float = 0.0,
    ) -> Answer:
        """Ask the topology's strategy for a placement that there are worker slots for.

        Args:
            task: The topology.
            fixed: Per executor the host that it must keep, None if it is free.
            closed: (n_hosts,) hosts to which no executor may come, None if there are none.
            overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.
        """
        answer = self._asked(task, fixed, closed, overload)
        if answer.placement is None or answer.workers:
            return answer
        # Room in workers was counted too high: components or large executors cannot share them as counted.
        cautious = replace(task, workers=replace(task.workers, cautious=True))
        answer = self._asked(cautious, fixed, closed, overload)
        if answer.placement is None or answer.workers:
            return answer
        why = " (incompatibleComponents)" if task.workers.rules.apart else ""
        reason = f"hosts have too few worker slots for what a worker may hold{why}"
        return Answer(replace(answer.result, placement=None, status="infeasible", reason=reason), None)

    def _asked(
        self, task: Task, fixed: Sequence[int | None], closed: BoolArray | None, overload: float
    ) -> Answer:
        """Return the strategy's answer; without workers if a placement has no slots."""
        settings = task.settings
        try:
            question = self.pose(task, fixed, closed, overload)
        except NoHostError as error:
            refused = Result(None, None, None, "infeasible", str(error), settings.strategy, settings.seed)
            return Answer(refused, None)
        key = (task.index, question.frame.key)
        if key not in self._answers:
            with self.limited(task) as limit:
                result = plan(
                    question.problem,
                    settings.strategy,
                    parameters_of(settings),
                    seed=settings.seed,
                    deadline=limit.deadline,
                    children=limit.children,
                )
            if result.placement is not None and not question.frame.whole:
                # A proof about some of the hosts is none about all of them.
                result = replace(result, bound=None, status="feasible")
            placement = None if result.placement is None else question.frame.hosts_of(result.placement)
            workers = self._workers(task, placement, overload)
            self._answers[key] = Answer(result, placement, workers, task.least)
        return self._answers[key]

    def nearby(self, task: Task, question: Question) -> tuple[int, ...] | None:
        """Improve the running placement step by step, whatever the topology's strategy.

        A strategy that builds its placement from nothing moves executors that need not move.

        Args:
            task: The topology.
            question: Its problem with all executors free.

        Returns:
            Host index per executor; None if the running placement breaks a limit or no step improves it.
        """
        key = (task.index, question.frame.key)
        if key not in self._nearby:
            self._nearby[key] = self._descended(task, question)
        return self._nearby[key]

    def _descended(self, task: Task, question: Question) -> tuple[int, ...] | None:
        problem, current = question.problem, question.frame.current
        if check(problem, current):
            return None
        descent = Descent(problem, current, np.arange(problem.n_nodes))
        began = descent.rank
        with self.limited(task) as limit:
            for _ in range(_MOST_STEPS):
                before = descent.rank
                if not descent.iterate(limit.deadline) or descent.rank == before:
                    break
        placement = question.frame.hosts_of(descent.placement)
        return placement if descent.rank < began and self._workers(task, placement, 0.0) else None

    def limits_bandwidth(self, task: Task) -> bool:
        """Whether bandwidths between sites limit where a topology can be."""
        return self._left(task) is not None

    def _left(self, task: Task) -> BandwidthLeft | None:
        """Return what others leave of bandwidths; None where these do not count."""
        if self._book is None or not task.within_bandwidth:
            return None
        return self._book.left_by_others(task.index)

    @contextmanager
    def limited(self, task: Task) -> Iterator[TimeLimit]:
        """Give a topology its share of the time; remember whether the clock had a say."""
        limit = TimeLimit(self._deadline_for(task), self._children)
        yield limit
        self.timed_out |= limit.cut

    def _workers(self, task: Task, placement: tuple[int, ...] | None, overload: float) -> int:
        if placement is None:
            return 0
        limits = self.state.limits
        strict = limits == "strict" or (limits == "soft" and overload == 0.0)
        return count_workers(self.state, task.index, placement, task.workers, strict=strict)
