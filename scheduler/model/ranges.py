"""Ranges of the metrics that hold for every placement: cheap and deterministic normalisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.link_table import BLOCK_VALUES, MatrixDelays
from scheduler.model.objective import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.application import Application
    from scheduler.model.network import Network
    from scheduler.model.node_sets import NodeSets
    from scheduler.model.objective import Range

LOWEST_LOG_AVAILABILITY = -700.0
"""exp() of anything lower is no normal float; ranges end there."""


@dataclass(frozen=True)
class _Extremes:
    """(n_streams,) smallest and largest value of links between the nodes allowed at both ends."""

    least: FloatArray
    most: FloatArray


def compute_ranges(application: Application, network: Network, reach: NodeSets) -> dict[str, Range]:
    """Return bounds (min, max) per metric that no placement on allowed nodes can leave.

    R: the longest source-to-sink path when every operator has the best (worst) speed-up among its
    allowed nodes and every stream the least (largest) delay between allowed nodes of its two ends, which
    is 0 when both may share a node. The others: the sum over operators and streams of the best (worst) term.
    Capacity is ignored, so the bounds need not be reached; nor need delays computed from coordinates be, if
    a stream may use more than 2^20 pairs of nodes (`Delays.extremes`).

    Complexity: O(n_streams + sum over pairs of node sets of the pairs of nodes looked at).

    Args:
        application: The operators and streams.
        network: The nodes and links.
        reach: Where each operator may run; one allowed nowhere makes the problem infeasible, and is taken
            as allowed everywhere.

    Returns:
        Ranges in the metrics' units, by metric name.
    """
    delay = _stream_extremes(application, reach, network.delays.extremes)
    slowest, fastest = reach.extremes(network.speedup)
    response = (
        _longest_path(application, application.execution_time_ms / fastest, delay.least),
        _longest_path(application, application.execution_time_ms / slowest, delay.most),
    )
    traffic = application.rate * application.tuple_bytes / 1000.0
    usage = (float(traffic @ delay.least), float(traffic @ delay.most))
    low, high = (float(log_node.sum()) for log_node in reach.extremes(np.log(network.availability)))
    if network.link_availability is not None:
        links = MatrixDelays(np.log(network.link_availability))
        log_link = _stream_extremes(application, reach, links.extremes)
        low += float(log_link.least.sum())
        high += float(log_link.most.sum())
    available = (
        math.exp(max(low, LOWEST_LOG_AVAILABILITY)),
        math.exp(max(high, LOWEST_LOG_AVAILABILITY)),
    )
    bandwidth = application.rate * application.tuple_bytes
    apart = _stream_extremes(application, reach, _apart)
    traffic_between = (float(bandwidth @ apart.least), float(bandwidth @ apart.most))
    cost_low, cost_high = (float(cost.sum()) for cost in reach.extremes(network.cost))
    if network.link_cost is not None:
        link_cost = _stream_extremes(application, reach, MatrixDelays(network.link_cost).extremes)
        cost_low += float(link_cost.least.sum())
        cost_high += float(link_cost.most.sum())
    ranges = (response, available, usage, traffic_between, (cost_low, cost_high))
    return dict(zip(METRICS, ranges, strict=True))


def _stream_extremes(
    application: Application,
    reach: NodeSets,
    extremes: Callable[[IntArray, IntArray, int], tuple[float, float]],
) -> _Extremes:
    """Return the extremes per stream; streams between operators with the same allowed nodes share the work.

    Args:
        application: The operators and streams.
        reach: Where each operator may run.
        extremes: Bounds of what links between two groups of nodes are worth, given how many pairs of nodes
            may be looked at.
    """
    n_sets = len(reach.nodes)
    source, target = application.stream_source, application.stream_target
    pairs, member = np.unique(reach.member[source] * n_sets + reach.member[target], return_inverse=True)
    bounds = np.zeros((len(pairs), 2))
    nodes = [reach.listed(k) for k in range(n_sets)]
    for k, (a, b) in enumerate(zip(pairs // n_sets, pairs % n_sets, strict=True)):
        bounds[k] = extremes(nodes[a], nodes[b], BLOCK_VALUES // len(pairs))
    bounds = np.where((source == target)[:, None], 0.0, bounds[member])
    return _Extremes(bounds[:, 0], bounds[:, 1])


def _apart(rows: IntArray, columns: IntArray, _pairs: int) -> tuple[float, float]:
    """Return whether two operators have to run on distinct nodes, and whether they can."""
    least = 0.0 if np.isin(rows, columns, assume_unique=True).any() else 1.0
    return least, 1.0 if len(rows) > 1 or len(columns) > 1 else least


def _longest_path(application: Application, execution_ms: FloatArray, delay_ms: FloatArray) -> float:
    arrival = application.levels.arrivals(execution_ms, lambda streams: delay_ms[streams])
    return float((arrival + execution_ms).max())
