"""Response times of many partial placements at once, from below.

Classes that are not placed yet have an arrival per node, the least over their places under (min, max, +): no
sweep of `scheduler.model.levels`, where the node of every operator is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import require_time
from scheduler.exact.form.slots import dearest_taken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class _Way:
    """One direction, with the streams (how early results can arrive) or against them (how soon all is done).

    Attributes:
        static: (n_classes, n_nodes) least time up to a member on that node, its own execution excluded,
            without any member placed.
    """

    def __init__(self, form: ClassForm, room: IntArray, deadline: Deadline, *, back: bool) -> None:
        self._form, self._room = form, room
        self._order = form.order[::-1] if back else form.order
        self._delay_ms = form.delay_ms.T if back else form.delay_ms  # from the class met before in the row
        critical = [(edge.source, edge.target) for edge in form.edges if edge.critical]
        critical = [(b, a) for a, b in critical] if back else critical
        self._before = [[a for a, b in critical if b == c] for c in range(form.n_classes)]
        self._least: dict[tuple[int, int], FloatArray] = {}
        self.static = np.zeros((form.n_classes, form.n_nodes))
        for c in self._order:
            require_time(deadline)
            for a in self._before[c]:
                self.static[c] = np.maximum(self.static[c], self._least_from(a, int(form.size[a])))

    def _least_from(self, c: int, members: int) -> FloatArray:
        """Return (n_nodes,) the least time at each node behind so many members of a class.

        A result waits for all of them: at least for the one that is farthest when they take the nearest
        slots.
        """
        key = (c, members)
        if key not in self._least:
            leave = self.static[c] + self._form.execution_ms[c]
            self._least[key] = dearest_taken(leave + self._delay_ms.T, self._room[c], members)
        return self._least[key]

    def times(self, at: IntArray, placed: Mapping[int, Sequence[int]], unplaced: Mapping[int, int]) -> _Times:
        """Return the times of all members; arguments as of `PartialPaths.least`."""
        times = _Times({}, {})
        for c in self._order:
            met = [
                (at[:, q], times.placed[q] + self._form.execution_ms[a, at[:, q]])
                for a in self._before[c]
                for q in placed.get(a, ())
            ]
            for position in placed.get(c, ()):
                here = at[:, position]
                time = self.static[c, here]
                for a in self._before[c]:
                    if unplaced[a]:
                        time = np.maximum(time, self._least_from(a, unplaced[a])[here])
                for there, left in met:
                    time = np.maximum(time, left + self._delay_ms[there, here])
                times.placed[position] = time
            if unplaced[c]:
                spread = np.tile(self.static[c], (len(at), 1))
                for there, left in met:
                    spread = np.maximum(spread, left[:, None] + self._delay_ms[there])
                times.unplaced[c] = spread
        return times


class PartialPaths:
    """Bounds for paths that lead over placed and unplaced members.

    Attributes:
        through_ms: (n_classes, n_nodes) what R is at least if a member is on that node.
        response_ms: R of no placement is below this; infinite if open places do not suffice.
    """

    def __init__(self, form: ClassForm, room: IntArray, deadline: Deadline) -> None:
        """Compute the bounds without any member placed.

        Args:
            form: The problem.
            room: (n_classes, n_nodes) slots open to each class.
            deadline: When to stop.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        self._form = form
        self._head = _Way(form, room, deadline, back=False)
        self._tail = _Way(form, room, deadline, back=True)
        self._graphs = form.graphs
        through = self._head.static + form.execution_ms + self._tail.static
        own = [dearest_taken(through[c], room[c], int(form.size[c])) for c in range(form.n_classes)]
        self._least_ms = self._graphs.longest(np.array(own, dtype=np.float64))
        self.response_ms = float(self._graphs.mean(self._least_ms))
        longest = np.maximum(through, self._least_ms[self._graphs.member, None])
        self.through_ms = self._graphs.beside(self._least_ms)[:, None] + longest / self._graphs.count

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
        over_placed, through = self._longest(at, placed, unplaced)
        longest = np.maximum(self._least_ms[:, None], over_placed)
        for c, times in through.items():
            k = self._graphs.member[c]
            longest[k] = np.maximum(longest[k], dearest_taken(times, rooms[c], unplaced[c]))
        return self._graphs.mean(longest)

    def through(
        self, at: IntArray, placed: Mapping[int, Sequence[int]], last: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return R by the paths past the last class (k,), and by those through it by its node (k, n_nodes).

        The larger of both is R: all other members are placed.
        """
        unplaced = {c: int(self._form.size[c]) * (c == last) for c in range(self._form.n_classes)}
        over_placed, through = self._longest(at, placed, unplaced)
        count, k = self._graphs.count, self._graphs.member[last]
        beside = np.delete(over_placed, k, axis=0).sum(axis=0) / count
        return beside + over_placed[k] / count, beside[:, None] + through[last] / count

    def _longest(
        self, at: IntArray, placed: Mapping[int, Sequence[int]], unplaced: Mapping[int, int]
    ) -> tuple[FloatArray, dict[int, FloatArray]]:
        """Return longest paths: over placed members, (n_graphs, k), and each unplaced class, (k, n_nodes)."""
        head, tail = (way.times(at, placed, unplaced) for way in (self._head, self._tail))
        longest = np.zeros((self._graphs.count, len(at)))
        for c, positions in placed.items():
            for position in positions:
                own = self._form.execution_ms[c, at[:, position]]
                k = self._graphs.member[c]
                longest[k] = np.maximum(longest[k], head.placed[position] + own + tail.placed[position])
        execution = self._form.execution_ms
        return longest, {c: head.unplaced[c] + execution[c] + tail.unplaced[c] for c in head.unplaced}
