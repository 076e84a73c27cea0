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
    application, delays = problem.application, problem.network.delays
    execution = application.execution_time_ms / problem.network.speedup[placement]
    delay = delays.between(placement[application.stream_source], placement[application.stream_target])

    def hop(streams: IntArray) -> FloatArray:
        along: FloatArray = delay[streams]
        return along

    arrival, before = application.levels.arrivals_and_origins(execution, hop)
    departure = application.levels.departures(execution, hop)
    path = [int((arrival + execution).argmax())]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return Potentials(arrival, execution, departure, tuple(reversed(path)))


def response_times(problem: Problem, placements: IntArray) -> FloatArray:
    """Return R of many placements at once.

    Complexity: O((n_ops + n_streams) x n_placements), in numpy steps of many streams (`scheduler.levels`).

    Args:
        problem: The problem.
        placements: (n_ops, n_placements) node of each operator, one placement per column.

    Returns:
        (n_placements,) in ms.
    """
    application, delays = problem.application, problem.network.delays
    execution = application.execution_time_ms[:, None] / problem.network.speedup[placements]

    def hop(streams: IntArray) -> FloatArray:
        source, target = application.stream_source[streams], application.stream_target[streams]
        return delays.between(placements[source], placements[target])

    arrival = application.levels.arrivals(execution, hop)
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
    application, delays = problem.application, problem.network.delays
    own = application.execution_time_ms / problem.network.speedup[placement]
    execution = np.where(placement[:, None] == nodes, -np.inf, own[:, None])

    def hop(streams: IntArray) -> FloatArray:
        source, target = application.stream_source[streams], application.stream_target[streams]
        return delays.between(placement[source], placement[target])[:, None]

    arrival = application.levels.arrivals(execution, hop)
    bounds: FloatArray = np.maximum((arrival + execution).max(axis=0), 0.0)
    return bounds
