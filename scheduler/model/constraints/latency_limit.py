"""Latency limits: results reach a sink within a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.base.checks import ModelError, name, number, shown
from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.constraint import Constraint, Rule

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class LatencyLimit(Constraint):
    """The longest path to an operator, its own time included, takes at most so long.

    Attributes:
        operator: Its name; most often a sink.
        most_ms: The limit (>= 0).
    """

    kind: ClassVar[str] = "latency"

    operator: str
    most_ms: float

    def __post_init__(self) -> None:
        name("operator", self.operator)
        object.__setattr__(self, "most_ms", number("most_ms", self.most_ms))

    def rule(self, problem: Problem, where: str) -> LatencyRule:
        """Return the rule for this operator."""
        index = problem.application.index
        if self.operator not in index:
            raise ModelError(f"{where}.operator", f"{shown(self.operator)} is not an operator")
        return LatencyRule(problem, index[self.operator], self.most_ms)


@dataclass(frozen=True, eq=False)
class LatencyRule(Rule):
    """The longest path over critical streams to an operator is limited.

    Attributes:
        problem: The problem.
        sink: The operator.
        most_ms: The limit.
        kind: That of its record.
    """

    problem: Problem
    sink: int
    most_ms: float
    kind: str = LatencyLimit.kind

    def takes_ms(self, placements: IntArray) -> FloatArray:
        """Return (n_placements,) the longest path to the operator; what has no node takes no time."""
        problem, application = self.problem, self.problem.application
        placed = placements >= 0
        rows = np.arange(problem.n_ops)[:, None]
        own = np.where(placed, problem.execution_ms[rows, placements], 0.0)

        def hop(streams: IntArray) -> FloatArray:
            start, end = application.stream_source[streams], application.stream_target[streams]
            delays = problem.network.delays.between(placements[start], placements[end])
            return np.where(placed[start] & placed[end], delays, 0.0)

        reached = application.levels.forward.longest(own, hop)
        total: FloatArray = reached[self.sink] + own[self.sink]
        return total

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether what is placed already takes no longer.

        Complexity: O((n_ops + n_streams) x n_placements).
        """
        return self.takes_ms(placements) <= self.most_ms + TOLERANCE * max(1.0, self.most_ms)

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return one sentence if the path takes longer."""
        column = placement[:, None]
        if self.met(column)[0]:
            return ()
        takes = float(self.takes_ms(column)[0])
        return (f"results reach {self._name} after {takes:g} ms, and its limit is {self.most_ms:g}",)

    def conflict(self) -> str | None:
        """Return the least that is possible if that is above the limit, capacities and bandwidths apart."""
        least = self.least_ms
        if least <= self.most_ms + TOLERANCE * max(1.0, self.most_ms):
            return None
        return (
            f"results reach {self._name} after {least:g} ms at the least, and its limit is {self.most_ms:g}"
        )

    @cached_property
    def least_ms(self) -> float:
        """Least time until results reach the operator, as if each path had its operators to itself.

        Complexity: O(n_nodes^2) per critical stream before the operator.
        """
        problem, application = self.problem, self.problem.application
        own = np.where(problem.allowed, problem.execution_ms, np.inf)
        reached: dict[int, FloatArray] = {}
        every = np.arange(problem.n_nodes)
        for j in application.order.tolist():
            if not self.before[j]:
                continue
            arrival = np.zeros(problem.n_nodes)
            for s in np.flatnonzero(application.critical & (application.stream_target == j)).tolist():
                i = int(application.stream_source[s])
                if i != j:
                    delays = problem.network.delays.block(every, every)
                    arrival = np.maximum(arrival, (reached[i][:, None] + delays).min(axis=0))
            reached[j] = arrival + own[j]
        return float(reached[self.sink].min())

    @cached_property
    def before(self) -> BoolArray:
        """(n_ops,) which operators lie on a path of critical streams to the operator, itself included."""
        application = self.problem.application
        before = np.zeros(self.problem.n_ops, dtype=np.bool_)
        before[self.sink] = True
        for s in application.critical_streams[::-1].tolist():
            before[application.stream_source[s]] |= before[application.stream_target[s]]
        return before

    @property
    def _name(self) -> str:
        return self.problem.application.operators[self.sink].name
