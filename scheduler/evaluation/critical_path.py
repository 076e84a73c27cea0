"""The critical path: the longest from a source to a sink, found by potentials in linear time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.levels import Hop
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class Potentials:
    """Longest paths of one placement over the critical streams.

    Attributes:
        arrival_ms: (n_ops,) longest path from a source up to the operator, its own execution excluded.
        execution_ms: (n_ops,) execution time where the operator runs (eq. 7).
        departure_ms: (n_ops,) longest path from the operator to a sink, its own execution excluded.
    """

    arrival_ms: FloatArray
    execution_ms: FloatArray
    departure_ms: FloatArray


def longest_path(problem: Problem, placement: IntArray) -> tuple[float, tuple[int, ...]]:
    """Return R in ms and the operators of a longest path of each graph, each from source to sink.

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    execution, hop = _times(problem, placement)
    arrival, before = problem.application.levels.forward.longest_and_origins(execution, hop)
    finish, graphs = arrival + execution, problem.application.graphs
    paths: list[int] = []
    for members in reversed(graphs.members):
        paths.append(int(np.arange(len(finish))[members][finish[members].argmax()]))
        while before[paths[-1]] >= 0:
            paths.append(before[paths[-1]])
    return float(graphs.response(finish)), tuple(reversed(paths))


def longest_paths(problem: Problem, placement: IntArray) -> dict[str, float]:
    """Return what the longest path of each graph takes, ms, by the graph's name.

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    execution, hop = _times(problem, placement)
    arrival, _ = problem.application.levels.forward.longest_and_origins(execution, hop)
    graphs = problem.application.graphs
    return dict(zip(graphs.names, graphs.longest(arrival + execution).tolist(), strict=True))


def _times(problem: Problem, placement: IntArray) -> tuple[FloatArray, Hop]:
    """Return execution times and, on request, delays of streams, shaped like the placement or placements."""
    application, delays = problem.application, problem.network.delays
    execution = (application.execution_time_ms / problem.network.speedup[placement].T).T

    def hop(streams: IntArray) -> FloatArray:
        source, target = application.stream_source[streams], application.stream_target[streams]
        return delays.between(placement[source], placement[target])

    return execution, hop


def potentials(problem: Problem, placement: IntArray) -> Potentials:
    """Return the longest paths through every operator (eq. 5-8, without enumerating paths).

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    return _potentials(problem, *_times(problem, placement))


def potentials_without(problem: Problem, placement: IntArray, nodes: IntArray) -> Potentials:
    """Return, per node, the longest stretches of paths that meet no operator of that node.

    Complexity: O((n_ops + n_streams) x k), in numpy steps of many streams (`scheduler.model.levels`).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
        nodes: (k,) node indices.

    Returns:
        Arrays (n_ops, k); operators of the node itself have an execution time of minus infinity.
    """
    own, hop = _times(problem, placement)
    execution = np.where(placement[:, None] == nodes, -np.inf, own[:, None])
    return _potentials(problem, execution, lambda streams: hop(streams)[:, None])


def _potentials(problem: Problem, execution: FloatArray, hop: Hop) -> Potentials:
    levels = problem.application.levels
    return Potentials(
        levels.forward.longest(execution, hop), execution, levels.backward.longest(execution, hop)
    )


class Avoidance:
    """Finds longest paths of a graph without each operator in O((n_ops + n_streams) log n_ops).

    In topological order a path that avoids an operator either jumps over the operator's position by one
    stream, or lies on one side of it: it begins at a later source or ends at an earlier sink. So every
    stream, source and sink covers an interval of positions, and each position takes the longest path of those
    that cover it. An interval is the union of two that may overlap and whose lengths are one power of two.
    Graphs come one after the other, and what covers positions of one does not reach into the next.
    """

    def __init__(self, problem: Problem) -> None:
        application, n_ops = problem.application, problem.n_ops
        critical = application.critical_streams
        self._delays = problem.network.delays
        self._source, self._target = application.stream_source[critical], application.stream_target[critical]
        self._first = np.setdiff1d(np.arange(n_ops), self._target)
        self._last = np.setdiff1d(np.arange(n_ops), self._source)
        self._position = np.empty(n_ops, dtype=np.int64)
        graph = application.graphs.member
        self._position[application.order[np.argsort(graph[application.order], kind="stable")]] = np.arange(
            n_ops
        )
        place = self._position
        bounds = np.searchsorted(np.sort(graph), np.arange(application.graphs.count + 1))
        head, tail = bounds[graph[self._first]], bounds[graph[self._last] + 1]
        begin = np.concatenate([place[self._source] + 1, head, place[self._last] + 1])
        end = np.concatenate([place[self._target], place[self._first], tail])
        self._covering = np.flatnonzero(begin < end)
        begin, end = begin[self._covering], end[self._covering]
        power = np.frexp(end - begin)[1].astype(np.int64) - 1
        self._powers = int(power.max(initial=0)) + 1
        cells = np.concatenate([power * n_ops + begin, power * n_ops + end - (1 << power)])
        self._order = np.argsort(cells, kind="stable")
        self._cells, self._starts = np.unique(cells[self._order], return_index=True)

    def longest(self, placement: IntArray, paths: Potentials) -> FloatArray:
        """Return (n_ops,) the longest path (ms) of its graph without each operator, 0 if there is none.

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
