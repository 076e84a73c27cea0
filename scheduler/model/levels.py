"""Longest paths over critical streams, many streams in one step: level by level of the graph.

Whatever has a number per operator, of one placement or of many, follows paths here. Sweeps of the exact
solver have an array over nodes per class of operators, and other operations than (max, +); they stand beside
their use.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler.base.arrays import FloatArray, IntArray, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Hop = Callable[[IntArray], FloatArray]
    """Values of streams given by their indices, (n,) or (n, n_placements)."""

WIDE = 40
"""Streams per level from which vectorised steps are faster than a plain loop, measured for one placement."""
CHUNK = 4096
"""Streams of one step; it bounds the memory of a step with many placements."""


class _Step(NamedTuple):
    """Streams `first` to `last` of a sweep, handled at once; grouped by the operator that they lead to.

    Attributes:
        first: Position of the first stream.
        last: Position behind the last one.
        begins: (n_groups,) where each group begins, counted from `first`.
        ends_at: (n_groups,) the operator of each group.
        width: Streams per group if all have the same number, else 0.
    """

    first: int
    last: int
    begins: IntArray
    ends_at: IntArray
    width: int

    def longest(self, ways: FloatArray) -> FloatArray:
        """Return the largest value of each group, of values (n_streams of the step,) or more columns."""
        if self.width == 1:
            return ways
        if self.width:
            most: FloatArray = ways.reshape(len(self.ends_at), self.width, *ways.shape[1:]).max(axis=1)
            return most
        return np.maximum.reduceat(ways, self.begins, axis=0)


@dataclass(frozen=True, eq=False)
class Sweep:
    """One direction: streams in an order in which what they start from is complete.

    Attributes:
        streams: (n_critical,) indices of streams.
        near: (n_critical,) operator at the end that is complete.
        far: (n_critical,) operator at the other end, whose value the stream may raise.
        steps: The streams in groups of which all can be handled at once.
    """

    streams: IntArray
    near: IntArray
    far: IntArray
    steps: tuple[_Step, ...]

    @staticmethod
    def of(streams: IntArray, near: IntArray, far: IntArray, level: IntArray) -> Sweep:
        """Sort streams by the level of their far end, then by that operator, then as they come."""
        order = np.lexsort((far, level[far]))
        streams, near, far = (frozen(each[order]) for each in (streams, near, far))
        begins = np.flatnonzero(np.diff(far, prepend=-1))
        # a step ends with its level, and after the first group that lies across a multiple of CHUNK
        new_level = np.diff(level[far[begins]], prepend=-1) != 0
        new_chunk = np.diff(begins // CHUNK, prepend=0) != 0
        starts = np.flatnonzero(new_level | new_chunk)
        ends = np.append(begins, len(far))
        sizes = np.diff(ends)
        least, most = np.minimum.reduceat(sizes, starts), np.maximum.reduceat(sizes, starts)
        steps = []
        cuts = pairwise([*starts.tolist(), len(begins)])
        for (k, after), width in zip(cuts, np.where(least == most, most, 0).tolist(), strict=True):
            first, last = int(ends[k]), int(ends[after])
            groups = begins[k:after]
            steps.append(_Step(first, last, groups - first, far[groups], width))
        return Sweep(streams, near, far, tuple(steps))

    @property
    def narrow(self) -> bool:
        """Whether a plain loop is faster for a single placement."""
        return len(self.streams) <= WIDE * len(self.steps)

    def longest(self, own: FloatArray, hop: Hop) -> FloatArray:
        """Return, per operator, the longest way to it, its own value excluded; shaped like `own`.

        Complexity: O(n_ops + n_streams) per column, in numpy steps of a level or of `CHUNK` streams.

        Args:
            own: (n_ops,) or (n_ops, k) value of each operator.
            hop: Returns the values of streams given by their indices, (len,) or (len, k).
        """
        if own.ndim == 1 and self.narrow:
            return self._in_a_loop(own, hop(self.streams))[0]
        return self._in_steps(own, lambda first, last: hop(self.streams[first:last]))

    def longest_and_origins(self, own: FloatArray, hop: Hop) -> tuple[FloatArray, list[int]]:
        """Return the longest ways for one placement, and the operator that each comes from (or -1).

        Values are >= 0; among equally long ways, that of the first critical stream counts.
        """
        values = hop(self.streams)
        if self.narrow:
            return self._in_a_loop(own, values)
        reached = self._in_steps(own, lambda first, last: values[first:last])
        longest = (reached[self.near] + own[self.near] + values) == reached[self.far]
        place = np.where(longest, np.arange(len(values)), len(values))
        origin = np.full(len(own), -1, dtype=np.int64)
        starts = np.flatnonzero(np.diff(self.far, prepend=-1))
        origin[self.far[starts]] = self.near[np.minimum.reduceat(place, starts)]
        return reached, origin.tolist()

    def finish(self, own: FloatArray, hop: FloatArray) -> FloatArray:
        """Return the longest way to each operator, its own value included, for values >= 0.

        It is faster than `longest` where values of streams are at hand.

        Args:
            own: (n_ops, k) value of each operator.
            hop: (n_critical, k) values of `streams`, in their order.
        """
        finish = np.array(own)
        for step in self.steps:
            ways = finish[self.near[step.first : step.last]]
            ways += hop[step.first : step.last]
            finish[step.ends_at] += step.longest(ways)
        return finish

    def _in_steps(self, own: FloatArray, hop: Callable[[int, int], FloatArray]) -> FloatArray:
        reached = np.zeros(own.shape)
        for step in self.steps:
            near = self.near[step.first : step.last]
            ways = reached[near]
            ways += own[near]
            ways += hop(step.first, step.last)
            reached[step.ends_at] = np.maximum(step.longest(ways), 0.0)
        return reached

    def _in_a_loop(self, own: FloatArray, hop: FloatArray) -> tuple[FloatArray, list[int]]:
        reached, origin, value = [0.0] * len(own), [-1] * len(own), own.tolist()
        for near, far, way in zip(self.near.tolist(), self.far.tolist(), hop.tolist(), strict=True):
            length = reached[near] + value[near] + way
            if origin[far] < 0 or length > reached[far]:
                reached[far], origin[far] = length, near
        return np.array(reached), origin


@dataclass(frozen=True, eq=False)
class Levels:
    """The critical streams of an application, ready for longest paths in both directions.

    Attributes:
        depth: (n_ops,) streams of the longest way from a source to each operator; two operators of one depth
            share no critical stream.
        forward: The streams in the order of arrivals.
        backward: The streams in the order of departures.
    """

    depth: IntArray
    forward: Sweep
    backward: Sweep

    @staticmethod
    def of(n_ops: int, source: IntArray, target: IntArray, critical: IntArray) -> Levels:
        """Return the levels of a graph without cycles.

        Args:
            n_ops: Number of operators.
            source: (n_streams,) operator at which each stream starts.
            target: (n_streams,) operator at which it ends.
            critical: Indices of the critical streams, in topological order of their sources.
        """
        starts, ends = source[critical], target[critical]
        down = _depths(n_ops, starts.tolist(), ends.tolist())
        up = _depths(n_ops, ends[::-1].tolist(), starts[::-1].tolist())
        forward = Sweep.of(critical, starts, ends, down)
        return Levels(frozen(down), forward, Sweep.of(critical, ends, starts, up))


def _depths(n_ops: int, near: Sequence[int], far: Sequence[int]) -> IntArray:
    """Return (n_ops,) the number of edges of the longest way to each operator."""
    depth = [0] * n_ops
    for a, b in zip(near, far, strict=True):
        if depth[a] >= depth[b]:
            depth[b] = depth[a] + 1
    return np.array(depth, dtype=np.int64)
