"""Response times of many placements at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class _Level:
    """Junctions that are equally many segments away from the sources, and the segments that end there.

    Attributes:
        first, last: Where these segments begin and end in the order of all segments.
        source: (last - first,) junctions where they start, grouped by target.
        target: (n_targets,) junctions where they end, each once.
        starts: (n_targets,) where each target's segments begin among those of the level.
        width: Segments per target if all have the same number, else 0.
    """

    first: int
    last: int
    source: IntArray
    target: IntArray
    starts: IntArray
    width: int


class LongestPaths:
    """R of many placements in a number of numpy steps that grows with the depth of the graph.

    Operators with one critical stream in and one out lie inside a segment, whose delays just add up; paths
    are followed from junction to junction only.

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
        self._levels = _grouped(begin, end, level[end] if segments else end)
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
        finish = np.array(execution)
        if self._long:
            lengths = hop + np.where(self._passed_inside[:, None], execution[self._passed], 0.0)
            if self._same_length:
                hop = lengths.reshape(len(self._starts), -1, lengths.shape[1]).sum(axis=1)
            else:
                hop = np.add.reduceat(lengths, self._starts, axis=0)
        for level in self._levels:
            reached = finish[level.source]
            reached += hop[level.first : level.last]
            if level.width == 0:
                reached = np.maximum.reduceat(reached, level.starts, axis=0)
            elif level.width > 1:
                reached = reached.reshape(len(level.target), level.width, -1).max(axis=1)
            finish[level.target] += reached
        longest: FloatArray = finish.max(axis=0)
        return longest


def _grouped(source: IntArray, target: IntArray, level: IntArray) -> list[_Level]:
    """Return the levels from 1 on of segments sorted by the level and index of their targets."""
    groups = []
    for depth in range(1, int(level.max(initial=0)) + 1):
        first, last = np.searchsorted(level, [depth, depth + 1]).tolist()
        if first == last:
            continue
        targets, starts, counts = np.unique(target[first:last], return_index=True, return_counts=True)
        width = int(counts[0]) if (counts == counts[0]).all() else 0
        groups.append(_Level(first, last, source[first:last], targets, starts, width))
    return groups
