"""The longest path that avoids an operator, for all operators at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.evaluation.response_time import Potentials
    from scheduler.model.problem import Problem


class Avoidance:
    """Finds longest paths without each operator in O((n_ops + n_streams) log n_ops) time and memory.

    In topological order a path that avoids an operator either jumps over the operator's position by one
    stream, or lies on one side of it: it begins at a later source or ends at an earlier sink. So every
    stream, source and sink covers an interval of positions, and each position takes the longest path of those
    that cover it. An interval is the union of two that may overlap and whose lengths are one power of two.
    """

    def __init__(self, problem: Problem) -> None:
        application, n_ops = problem.application, problem.n_ops
        critical = application.critical_streams
        self._delays = problem.network.delays
        self._source, self._target = application.stream_source[critical], application.stream_target[critical]
        self._first = np.setdiff1d(np.arange(n_ops), self._target)
        self._last = np.setdiff1d(np.arange(n_ops), self._source)
        self._position = np.empty(n_ops, dtype=np.int64)
        self._position[application.order] = np.arange(n_ops)
        place = self._position
        begin = np.concatenate([place[self._source] + 1, np.zeros_like(self._first), place[self._last] + 1])
        end = np.concatenate([place[self._target], place[self._first], np.full_like(self._last, n_ops)])
        self._covering = np.flatnonzero(begin < end)
        begin, end = begin[self._covering], end[self._covering]
        power = np.frexp(end - begin)[1].astype(np.int64) - 1
        self._powers = int(power.max(initial=0)) + 1
        cells = np.concatenate([power * n_ops + begin, power * n_ops + end - (1 << power)])
        self._order = np.argsort(cells, kind="stable")
        self._cells, self._starts = np.unique(cells[self._order], return_index=True)

    def longest(self, placement: IntArray, paths: Potentials) -> FloatArray:
        """Return (n_ops,) the longest path (ms) without each operator, 0 if there is none.

        Args:
            placement: (n_ops,) node of each operator.
            paths: Its potentials.
        """
        n_ops = len(placement)
        until = paths.arrival_ms + paths.execution_ms
        onward = paths.execution_ms + paths.departure_ms
        hop = self._delays.between(placement[self._source], placement[self._target])
        jumps = until[self._source] + hop + onward[self._target]
        lengths = np.concatenate([jumps, onward[self._first], until[self._last]])[self._covering]
        table = np.zeros(self._powers * n_ops)
        if self._cells.size:
            twice = np.concatenate([lengths, lengths])[self._order]
            table[self._cells] = np.maximum.reduceat(twice, self._starts)
        rows = table.reshape(self._powers, n_ops)
        for power in range(self._powers - 1, 0, -1):
            half = 1 << (power - 1)
            np.maximum(rows[power - 1], rows[power], out=rows[power - 1])
            np.maximum(rows[power - 1, half:], rows[power, :-half], out=rows[power - 1, half:])
        longest: FloatArray = rows[0][self._position]
        return longest
