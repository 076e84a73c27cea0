"""Longest source-to-sink paths by potentials, in time linear in operators and streams."""

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
    """Return R in ms and the operators of a longest path, from source to sink.

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    execution, hop = _times(problem, placement)
    arrival, before = problem.application.levels.forward.longest_and_origins(execution, hop)
    finish = arrival + execution
    path = [int(finish.argmax())]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return float(finish.max()), tuple(reversed(path))


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
