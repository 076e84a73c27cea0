"""Asking a topology's strategy, at most once for the same question within a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.problem_builder import Frame, NoHostError, RoundView, Task, build_problem, make_frame
from scheduler.plan import plan
from scheduler.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.round_state import RoundState
    from scheduler.deadline import Deadline
    from scheduler.problem import Problem


@dataclass(frozen=True, eq=False)
class Answer:
    """What a strategy answered.

    Attributes:
        result: The strategy's result, in nodes.
        problem: What it was asked, None if no host was open and it was not asked.
        frame: How nodes and hosts belong together, None likewise.
    """

    result: Result
    problem: Problem | None
    frame: Frame | None

    @property
    def placement(self) -> tuple[int, ...] | None:
        """Host index per executor, None if the strategy found no placement."""
        if self.frame is None or self.result.placement is None:
            return None
        return self.frame.hosts_of(self.result.placement)


class Search:
    """Strategies at work in one round.

    Args:
        state: The cluster so far.
        view: What holds for all topologies.
        deadline_for: Makes the deadline of the next question about a topology.

    Attributes:
        timed_out: True once a deadline expired before its strategy answered.
    """

    def __init__(self, state: RoundState, view: RoundView, deadline_for: Callable[[Task], Deadline]) -> None:
        self._state = state
        self._view = view
        self._deadline_for = deadline_for
        self.timed_out = False
        self._known: dict[tuple[int, bytes], Answer] = {}

    def ask(self, task: Task, fixed: Sequence[int | None]) -> Answer:
        """Ask the topology's strategy for a placement.

        Args:
            task: The topology.
            fixed: Per executor the host that it must keep, None if it is free.
        """
        settings = task.settings
        try:
            frame = make_frame(self._state, task, self._view.settings.max_hosts, fixed)
        except NoHostError as error:
            refused = Result(None, None, None, "infeasible", str(error), settings.strategy, settings.seed)
            return Answer(refused, None, None)
        key = (task.index, frame.key)
        if key not in self._known:
            problem = build_problem(self._state, task, self._view, frame)
            deadline = self._deadline_for(task)
            result = plan(problem, settings.strategy, None, settings.seed, deadline)
            self.timed_out |= deadline.expired()
            self._known[key] = Answer(result, problem, frame)
        return self._known[key]
