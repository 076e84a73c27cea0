"""The worth and the feasibility of many placements at once, one placement per column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch_paths import LongestPaths
from scheduler.evaluation.linear_form import linear_form, mean_delay_term
from scheduler.model.capacity import TOLERANCE
from scheduler.model.metrics.terms import DELAY

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem


class BatchEvaluator:
    """Evaluates placements in a number of numpy steps that grows with the depth of the graph."""

    def __init__(self, problem: Problem) -> None:
        application = problem.application
        form = linear_form(problem)
        self._n_nodes = problem.n_nodes
        self._constant, self._response_factor = form.constant, form.response_factor
        self._paths = LongestPaths(problem)
        critical = self._paths.streams
        loops = application.stream_source == application.stream_target
        # a stream from an operator to itself never leaves its node
        others = np.setdiff1d(np.flatnonzero(~loops), critical)
        order = np.concatenate([critical, others])
        self._n_critical = len(critical)
        self._source, self._target = application.stream_source[order], application.stream_target[order]
        self._delay = problem.network.delay_ms.ravel()
        along = np.broadcast_to(form.delay_weight(), loops.shape)
        self._sums = np.stack([along[order], mean_delay_term(problem).weight[order]])
        self._pairs = [(term.weight[order], term.matrix.ravel()) for term in form.pairs if term.slot != DELAY]
        self._unary = form.unary.ravel() if form.unary.any() else None
        self._rows = (np.arange(problem.n_ops) * problem.n_nodes)[:, None]
        self._execution = problem.execution_ms.ravel()
        same_speed = bool((problem.network.speedup == problem.network.speedup[0]).all())
        self._fixed_execution = problem.execution_ms[:, :1] if same_speed else None

    def __call__(self, placements: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return F and the mean delay (ms), each (n_placements,), of placements (n_ops, n_placements).

        Complexity: O((n_ops + n_streams) x n_placements) in time and memory, in a number of numpy steps
        proportional to the length of the longest path.
        """
        link = placements[self._source]
        link *= self._n_nodes
        link += placements[self._target]
        hop = self._delay.take(link)
        objective, mean = self._sums @ hop
        objective += self._constant
        for weight, matrix in self._pairs:
            objective += weight @ matrix.take(link)
        if self._unary is not None:
            objective += self._unary.take(placements + self._rows).sum(axis=0)
        if self._response_factor:
            execution = self._execution_of(placements)
            objective += self._response_factor * self._paths.response(hop[: self._n_critical], execution)
        return objective, mean

    def _execution_of(self, placements: IntArray) -> FloatArray:
        if self._fixed_execution is None:
            return self._execution.take(placements + self._rows)
        return np.repeat(self._fixed_execution, placements.shape[1], axis=1)


class BatchConstraints:
    """Checks constraints for placements given one per column."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._free_choice = bool(problem.allowed[problem.allowed.sum(axis=1) > 1].all())
        self._rows = (np.arange(problem.n_ops) * problem.n_nodes)[:, None]
        self._allowed = problem.allowed.ravel()
        self._resources: list[tuple[IntArray, FloatArray, FloatArray]] = []
        for demand, capacity in zip(problem.demand.T, problem.capacity.T, strict=True):
            members = np.flatnonzero(demand)
            if members.size:
                self._resources.append((members, demand[members], capacity + TOLERANCE))
        movable = problem.demand[problem.allowed.sum(axis=1) > 1]
        self.interchangeable = self._free_choice and bool((movable == movable[:1]).all())
        """Whether operators that are not pinned may trade places without a check."""

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether each placement (n_ops, n_placements) meets all constraints.

        Pinned operators count as placed where they belong.

        Complexity: O((n_ops + n_nodes) x n_placements) per resource.
        """
        count = placements.shape[1]
        column = np.arange(count)
        met = np.ones(count, dtype=np.bool_)
        if not self._free_choice:
            met &= self._allowed.take(placements + self._rows).all(axis=0)
        for members, demand, capacity in self._resources:
            where = placements if len(members) == len(placements) else placements[members]
            place = where * count + column
            weights = np.repeat(demand, count)
            load = np.bincount(place.ravel(), weights, self._problem.n_nodes * count)
            met &= (load.take(place) <= capacity.take(where)).all(axis=0)
        return met

    def has_room(self, placements: IntArray, operator: IntArray, node: IntArray) -> BoolArray:
        """Return (n_placements,) whether the node of each column has room for the operator of that column."""
        there = (placements == node).astype(np.float64)
        load = self._problem.demand.T @ there + self._problem.demand[operator].T
        room: BoolArray = (load <= self._problem.capacity[node].T + TOLERANCE).all(axis=0)
        return room
