"""The worth and the feasibility of many placements at once, one placement per column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import charges_of_use
from scheduler.evaluation.linear_form import linear_form, mean_delay_term
from scheduler.model.capacity import TOLERANCE
from scheduler.model.levels import Sweep
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
        self._paths = _LongestPaths(problem)
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
        further = [term for term in form.pairs if term.slot != DELAY]
        self._pairs = [(term.weight[order], term.table.matrix().ravel()) for term in further]
        self._set_up = form.set_up
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
        if self._set_up is not None:
            objective += charges_of_use(self._set_up, placements)
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
        self._allowed, self._capacities = problem.built_in
        movable = problem.demand[problem.movable]
        alike = self._allowed.free_choice and bool((movable == movable[:1]).all())
        self.interchangeable = alike and not problem.rules
        """Whether operators that are not pinned may trade places without a check."""

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether each placement (n_ops, n_placements) meets all constraints.

        Pinned operators count as placed where they belong.

        Complexity: O((n_ops + n_nodes) x n_placements) per resource, and that of the rules.
        """
        met = self._capacities.met(placements)
        if not self._allowed.free_choice:
            met &= self._allowed.met(placements)
        if self._problem.rules:
            met[met] = self._problem.rules.met(placements[:, met])
        return met

    def has_room(self, placements: IntArray, operator: IntArray, node: IntArray) -> BoolArray:
        """Return (n_placements,) whether the node of each column has room for the operator of that column."""
        there = (placements == node).astype(np.float64)
        load = self._problem.demand.T @ there + self._problem.demand[operator].T
        room: BoolArray = (load <= self._problem.capacity[node].T + TOLERANCE).all(axis=0)
        return room


class _LongestPaths:
    """R of many placements in a number of numpy steps that grows with the depth of the graph.

    Operators with one critical stream in and one out lie inside a segment, whose delays just add up; paths
    are followed from junction to junction only, by a sweep over segments instead of streams.

    Attributes:
        streams: (n_hops,) critical streams in the order in which `response` expects their delays.
    """

    def __init__(self, problem: Problem) -> None:
        application = problem.application
        self._graphs = application.graphs
        source, target = application.stream_source, application.stream_target
        critical = application.critical_streams
        into = np.bincount(target[critical], minlength=problem.n_ops)
        out = np.bincount(source[critical], minlength=problem.n_ops)
        inner = (into == 1) & (out == 1)
        onward = {int(source[s]): int(s) for s in critical if inner[source[s]]}
        segments = []
        for stream in critical.tolist():
            if inner[source[stream]]:
                continue
            segment = [stream]
            while inner[target[segment[-1]]]:
                segment.append(onward[int(target[segment[-1]])])
            segments.append(segment)
        level = np.zeros(problem.n_ops, dtype=np.int64)
        for segment in segments:
            end = target[segment[-1]]
            level[end] = max(level[end], level[source[segment[0]]] + 1)
        segments.sort(key=lambda each: (level[target[each[-1]]], target[each[-1]]))
        self.streams = np.array([stream for segment in segments for stream in segment], dtype=np.int64)
        lengths = np.array([len(segment) for segment in segments], dtype=np.int64)
        self._starts = np.cumsum(lengths) - lengths
        self._long = bool((lengths > 1).any())
        self._same_length = bool((lengths == lengths[:1]).all())
        begin = np.array([source[segment[0]] for segment in segments], dtype=np.int64)
        end = np.array([target[segment[-1]] for segment in segments], dtype=np.int64)
        # segments are in the order of the sweep already, so that its steps are slices of them
        self._sweep = Sweep.of(np.arange(len(segments)), begin, end, level)
        # a segment takes the execution times of its inner operators too; its source stands for them here
        self._passed = source[self.streams]
        self._passed_inside = inner[self._passed]

    def response(self, hop: FloatArray, execution: FloatArray) -> FloatArray:
        """Return R (ms) of each placement.

        Complexity: O((n_ops + n_hops) x n_placements).

        Args:
            hop: (n_hops, n_placements) delays of `streams`, in ms.
            execution: (n_ops, n_placements) execution times, in ms.
        """
        if self._long:
            lengths = hop + np.where(self._passed_inside[:, None], execution[self._passed], 0.0)
            if self._same_length:
                hop = lengths.reshape(len(self._starts), -1, lengths.shape[1]).sum(axis=1)
            else:
                hop = np.add.reduceat(lengths, self._starts, axis=0)
        return self._graphs.response(self._sweep.finish(execution, hop))
