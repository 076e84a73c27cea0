"""Ranges of the metrics that hold for every placement: cheap and deterministic normalisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.objective import METRICS

if TYPE_CHECKING:
    from scheduler.application import Application
    from scheduler.arrays import BoolArray, FloatArray
    from scheduler.network import Network
    from scheduler.objective import Range

LOWEST_LOG_AVAILABILITY = -700.0
"""exp() of anything lower is no normal float; ranges end there."""


@dataclass(frozen=True)
class _Extremes:
    """Smallest and largest value of a link matrix over the nodes allowed at both ends of each stream."""

    least: FloatArray
    most: FloatArray


def compute_ranges(application: Application, network: Network, allowed: BoolArray) -> dict[str, Range]:
    """Return bounds (min, max) per metric that no placement on allowed nodes can leave.

    R: the longest source-to-sink path when every operator has the best (worst) speed-up among its
    allowed nodes and every stream the least (largest) delay between allowed nodes of its two ends, which
    is 0 when both may share a node. The others: the sum over operators and streams of the best (worst) term.
    Capacity is ignored, so the bounds need not be reached.

    Args:
        application: The operators and streams.
        network: The nodes and links.
        allowed: (n_ops, n_nodes) where each operator may run.

    Returns:
        Ranges in the metrics' units, by metric name.
    """
    # an operator allowed nowhere makes the problem infeasible; its range must still be a number
    reach = np.where(allowed.any(axis=1, keepdims=True), allowed, True)
    delay = _stream_extremes(application, reach, network.delay_ms)
    best_speed = np.where(reach, network.speedup, -np.inf).max(axis=1)
    worst_speed = np.where(reach, network.speedup, np.inf).min(axis=1)
    response = (
        _longest_path(application, application.execution_time_ms / best_speed, delay.least),
        _longest_path(application, application.execution_time_ms / worst_speed, delay.most),
    )
    traffic = application.rate * application.tuple_bytes / 1000.0
    usage = (float(traffic @ delay.least), float(traffic @ delay.most))
    log_node = np.log(network.availability)
    low = float(np.where(reach, log_node, np.inf).min(axis=1).sum())
    high = float(np.where(reach, log_node, -np.inf).max(axis=1).sum())
    if network.link_availability is not None:
        log_link = _stream_extremes(application, reach, np.log(network.link_availability))
        low += float(log_link.least.sum())
        high += float(log_link.most.sum())
    available = (
        math.exp(max(low, LOWEST_LOG_AVAILABILITY)),
        math.exp(max(high, LOWEST_LOG_AVAILABILITY)),
    )
    bandwidth = application.rate * application.tuple_bytes
    apart = _stream_extremes(application, reach, 1.0 - np.eye(len(network.nodes)))
    traffic_between = (float(bandwidth @ apart.least), float(bandwidth @ apart.most))
    cost_low = float(np.where(reach, network.cost, np.inf).min(axis=1).sum())
    cost_high = float(np.where(reach, network.cost, -np.inf).max(axis=1).sum())
    if network.link_cost is not None:
        link_cost = _stream_extremes(application, reach, network.link_cost)
        cost_low += float(link_cost.least.sum())
        cost_high += float(link_cost.most.sum())
    ranges = (response, available, usage, traffic_between, (cost_low, cost_high))
    return dict(zip(METRICS, ranges, strict=True))


def _stream_extremes(application: Application, reach: BoolArray, matrix: FloatArray) -> _Extremes:
    """Return the extremes per stream; operators with the same allowed nodes share the work."""
    classes, member = np.unique(reach, axis=0, return_inverse=True)
    least = np.zeros(len(application.streams))
    most = np.zeros(len(application.streams))
    known: dict[tuple[int, int], tuple[float, float]] = {}
    pairs = zip(member[application.stream_source], member[application.stream_target], strict=True)
    for stream, (a, b) in enumerate(pairs):
        if (a, b) not in known:
            block = matrix[np.ix_(classes[a], classes[b])]
            known[a, b] = (float(block.min()), float(block.max()))
        least[stream], most[stream] = known[a, b]
    loops = application.stream_source == application.stream_target
    least[loops] = most[loops] = 0.0
    return _Extremes(least, most)


def _longest_path(application: Application, execution_ms: FloatArray, delay_ms: FloatArray) -> float:
    finish = execution_ms.copy()
    for stream in application.critical_streams:
        source, target = application.stream_source[stream], application.stream_target[stream]
        finish[target] = max(finish[target], finish[source] + delay_ms[stream] + execution_ms[target])
    return float(finish.max())
