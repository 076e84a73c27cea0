"""Response times of many partial placements at once, from below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.exact.branch.response_bounds import reach, response_bounds, rest
from scheduler.exact.form.slots import dearest_taken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.form.class_form import ClassForm


@dataclass(frozen=True, eq=False)
class _Times:
    """Times of partial placements.

    Attributes:
        placed: (k,) by column of the placement.
        unplaced: (k, n_nodes) by class with members left.
    """

    placed: dict[int, FloatArray]
    unplaced: dict[int, FloatArray]


@dataclass(frozen=True, eq=False)
class _Direction:
    """With the streams, or against them.

    Attributes:
        order: Classes in the order of walking.
        neighbours: Classes met before, by class.
        delay_ms: (n_nodes, n_nodes) from the neighbour in the row.
        static: (n_classes, n_nodes) bounds without any member placed.
        least: (n_nodes,) bound by a class and how many members of it are unplaced.
    """

    order: tuple[int, ...]
    neighbours: list[list[int]]
    delay_ms: FloatArray
    static: FloatArray
    least: Callable[[int, int], FloatArray]


class PartialPaths:
    """Bounds for paths that lead over placed and unplaced members.

    Attributes:
        static: The bounds without any member placed.
    """

    def __init__(self, form: ClassForm, room: IntArray, deadline: Deadline = NO_DEADLINE) -> None:
        """Compute the static bounds.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        self.form, self.room = form, room
        self.static = response_bounds(form, room, deadline)
        critical = [(edge.source, edge.target) for edge in form.edges if edge.critical]
        self._before = [[a for a, b in critical if b == c] for c in range(form.n_classes)]
        self._after = [[b for a, b in critical if a == c] for c in range(form.n_classes)]
        self._reach: dict[tuple[int, int], FloatArray] = {}
        self._rest: dict[tuple[int, int], FloatArray] = {}

    def least(
        self,
        at: IntArray,
        placed: Mapping[int, Sequence[int]],
        unplaced: Mapping[int, int],
        rooms: Mapping[int, FloatArray],
    ) -> FloatArray:
        """Return (k,) what R is at least.

        Args:
            at: (k, members placed) their nodes.
            placed: Columns of `at` by class.
            unplaced: Members left by class.
            rooms: (k, n_nodes) slots left, for classes with members left.
        """
        head, tail = self._both(at, placed, unplaced)
        longest = np.full(len(at), self.static.response_ms)
        for c, positions in placed.items():
            for position in positions:
                own = self.form.execution_ms[c, at[:, position]]
                longest = np.maximum(longest, head.placed[position] + own + tail.placed[position])
        for c, members in unplaced.items():
            if members:
                through = head.unplaced[c] + self.form.execution_ms[c] + tail.unplaced[c]
                longest = np.maximum(longest, dearest_taken(through, rooms[c], members))
        return longest

    def through(
        self, at: IntArray, placed: Mapping[int, Sequence[int]], last: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return R of paths past the last class (k,), and of those through it by its node (k, n_nodes).

        All other members are placed, so both are exact.
        """
        unplaced = {c: int(self.form.size[c]) * (c == last) for c in range(self.form.n_classes)}
        head, tail = self._both(at, placed, unplaced)
        longest = np.zeros(len(at))
        for c, positions in placed.items():
            for position in positions:
                own = self.form.execution_ms[c, at[:, position]]
                longest = np.maximum(longest, head.placed[position] + own + tail.placed[position])
        through: FloatArray = head.unplaced[last] + self.form.execution_ms[last] + tail.unplaced[last]
        return longest, through

    def _both(
        self, at: IntArray, placed: Mapping[int, Sequence[int]], unplaced: Mapping[int, int]
    ) -> tuple[_Times, _Times]:
        ahead = _Direction(
            self.form.order, self._before, self.form.delay_ms, self.static.head_ms, self._reached
        )
        back = _Direction(
            tuple(reversed(self.form.order)),
            self._after,
            self.form.delay_ms.T,
            self.static.tail_ms,
            self._remaining,
        )
        return self._walk(ahead, at, placed, unplaced), self._walk(back, at, placed, unplaced)

    def _walk(
        self,
        way: _Direction,
        at: IntArray,
        placed: Mapping[int, Sequence[int]],
        unplaced: Mapping[int, int],
    ) -> _Times:
        """Return arrivals (or, walking back, departures) of all members."""
        times = _Times({}, {})
        for c in way.order:
            met = [
                (at[:, q], times.placed[q] + self.form.execution_ms[a, at[:, q]])
                for a in way.neighbours[c]
                for q in placed.get(a, ())
            ]
            for position in placed.get(c, ()):
                here = at[:, position]
                time = way.static[c, here]
                for a in way.neighbours[c]:
                    if unplaced[a]:
                        time = np.maximum(time, way.least(a, unplaced[a])[here])
                for there, left in met:
                    time = np.maximum(time, left + way.delay_ms[there, here])
                times.placed[position] = time
            if unplaced[c]:
                spread = np.tile(way.static[c], (len(at), 1))
                for there, left in met:
                    spread = np.maximum(spread, left[:, None] + way.delay_ms[there])
                times.unplaced[c] = spread
        return times

    def _reached(self, source: int, members: int) -> FloatArray:
        key = (source, members)
        if key not in self._reach:
            self._reach[key] = reach(self.form, self.static.head_ms, self.room, source, members)
        return self._reach[key]

    def _remaining(self, target: int, members: int) -> FloatArray:
        key = (target, members)
        if key not in self._rest:
            self._rest[key] = rest(self.form, self.static.tail_ms, self.room, target, members)
        return self._rest[key]
