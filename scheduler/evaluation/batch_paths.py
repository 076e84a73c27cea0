"""Response times of many placements at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.levels import Sweep

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.problem import Problem


class LongestPaths:
    """R of many placements in a number of numpy steps that grows with the depth of the graph.

    Operators with one critical stream in and one out lie inside a segment, whose delays just add up; paths
    are followed from junction to junction only, by a sweep over segments instead of streams.

    Attributes:
        streams: (n_hops,) critical streams in the order in which `response` expects their delays.
    """

    def __init__(self, problem: Problem) -> None:
        application = problem.application
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
        longest: FloatArray = self._sweep.finish(execution, hop).max(axis=0)
        return longest
