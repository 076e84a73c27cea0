"""Longest source-to-sink paths by potentials, in time linear in operators and streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem


@dataclass(frozen=True)
class Potentials:
    """Longest paths of one placement over the critical streams.

    Attributes:
        arrival_ms: (n_ops,) longest path from a source up to the operator, its own execution excluded.
        execution_ms: (n_ops,) execution time where the operator runs (eq. 7).
        departure_ms: (n_ops,) longest path from the operator to a sink, its own execution excluded.
        critical_path: Operators of a longest path, from source to sink.
    """

    arrival_ms: FloatArray
    execution_ms: FloatArray
    departure_ms: FloatArray
    critical_path: tuple[int, ...]

    @property
    def response_time_ms(self) -> float:
        """R (eq. 5): the largest sum over all paths."""
        return float((self.arrival_ms + self.execution_ms).max())


def potentials(problem: Problem, placement: IntArray) -> Potentials:
    """Return the longest paths through every operator (eq. 5-8, without enumerating paths).

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    application = problem.application
    execution = problem.execution_ms[np.arange(problem.n_ops), placement]
    streams = application.critical_streams
    sources, targets = application.stream_source[streams], application.stream_target[streams]
    delay = problem.network.delay_ms[placement[sources], placement[targets]].tolist()
    edges = list(zip(sources.tolist(), targets.tolist(), delay, strict=True))
    own = execution.tolist()
    arrival = [0.0] * problem.n_ops
    before = [-1] * problem.n_ops
    for source, target, hop in edges:
        reached = arrival[source] + own[source] + hop
        if before[target] < 0 or reached > arrival[target]:
            arrival[target], before[target] = reached, source
    departure = [0.0] * problem.n_ops
    for source, target, hop in reversed(edges):
        departure[source] = max(departure[source], hop + own[target] + departure[target])
    finish = np.array(arrival) + execution
    path = [int(finish.argmax())]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return Potentials(np.array(arrival), execution, np.array(departure), tuple(reversed(path)))


def response_times(problem: Problem, placements: IntArray) -> FloatArray:
    """Return R of many placements at once.

    Complexity: O((n_ops + n_streams) x n_placements) in n_ops + n_streams numpy steps.

    Args:
        problem: The problem.
        placements: (n_ops, n_placements) node of each operator, one placement per column.

    Returns:
        (n_placements,) in ms.
    """
    application = problem.application
    arrival = np.zeros(placements.shape)
    execution = np.take_along_axis(problem.execution_ms, placements, axis=1)
    for stream in application.critical_streams:
        source, target = application.stream_source[stream], application.stream_target[stream]
        hop = problem.network.delay_ms[placements[source], placements[target]]
        np.maximum(arrival[target], arrival[source] + execution[source] + hop, out=arrival[target])
    longest: FloatArray = (arrival + execution).max(axis=0)
    return longest


def response_time_bounds(problem: Problem, placement: IntArray, nodes: IntArray) -> FloatArray:
    """Return, per node, what R stays above wherever the operators of that node go.

    It is the longest stretch of a path that meets no operator of the node. Complexity as `response_times`.

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
        nodes: (k,) node indices.

    Returns:
        (k,) in ms, 0 where every operator is on that node.
    """
    application = problem.application
    own = problem.execution_ms[np.arange(problem.n_ops), placement]
    execution = np.where(placement[:, None] == nodes, -np.inf, own[:, None])
    arrival = np.zeros(execution.shape)
    for stream in application.critical_streams:
        source, target = application.stream_source[stream], application.stream_target[stream]
        hop = problem.network.delay_ms[placement[source], placement[target]]
        np.maximum(arrival[target], arrival[source] + execution[source] + hop, out=arrival[target])
    bounds: FloatArray = np.maximum((arrival + execution).max(axis=0), 0.0)
    return bounds
