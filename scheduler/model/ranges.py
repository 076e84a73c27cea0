"""Ranges of the metrics that hold for every placement: cheap and deterministic normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.link_table import BLOCK_VALUES, LinkTable
from scheduler.model.metrics.catalogue import ADDITIVE_METRICS
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.model.metrics.terms import DELAY

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray
    from scheduler.model.application import Application
    from scheduler.model.metrics.record import AdditiveMetric, Range
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class _Extremes:
    """(n_streams,) smallest and largest value of links between the nodes allowed at both ends."""

    least: FloatArray
    most: FloatArray


def compute_ranges(problem: Problem) -> dict[str, Range]:
    """Return bounds (min, max) per metric that no placement on allowed nodes can leave.

    R: the longest source-to-sink path when every operator has the best (worst) speed-up among its
    allowed nodes and every stream the least (largest) delay between allowed nodes of its two ends, which
    is 0 when both may share a node. The others: the sum over operators and streams of the best (worst) term.
    Capacity is ignored, so the bounds need not be reached; nor need delays computed from coordinates be, if
    a stream may use more than 2^20 pairs of nodes (`LinkTable.extremes`). An operator allowed nowhere makes
    the problem infeasible, and is taken as allowed everywhere.

    Complexity: O(n_streams + sum over pairs of node sets of the pairs of nodes looked at) per link table.

    Returns:
        Ranges in the metrics' units, by metric name.
    """
    tables = [_stream_extremes(problem, table) for table in problem.terms.tables]
    application = problem.application
    slowest, fastest = problem.node_sets.extremes(problem.network.speedup)
    response = (
        _longest_path(application, application.execution_time_ms / fastest, tables[DELAY].least),
        _longest_path(application, application.execution_time_ms / slowest, tables[DELAY].most),
    )
    return {
        RESPONSE_TIME.name: response,
        **{metric.name: _range(problem, metric, tables) for metric in ADDITIVE_METRICS},
    }


def _range(problem: Problem, metric: AdditiveMetric, tables: list[_Extremes]) -> Range:
    if metric.default_range is not None:
        return metric.default_range
    if metric.bounds is not None:
        return metric.statement.range_of(*metric.bounds(problem))
    best = worst = 0.0
    places = problem.terms.places.get(metric.name)
    if places is not None:
        best, worst = (float(values.sum()) for values in _place_extremes(problem, places))
    if metric.name in problem.terms.set_up:
        least_use, most_use = _use_extremes(problem, problem.terms.set_up[metric.name])
        best, worst = best + least_use, worst + most_use
    for slot, weight in problem.terms.links[metric.name]:
        least, most = tables[slot].least, tables[slot].most
        best += float(least.sum() if weight is None else weight @ least)
        worst += float(most.sum() if weight is None else weight @ most)
    return metric.statement.range_of(best, worst)


def _use_extremes(problem: Problem, charges: FloatArray) -> tuple[float, float]:
    """Return bounds of the sum of charges (n_nodes,) of nodes in use: one node at least, one per operator."""
    least, _ = problem.node_sets.extremes(charges)
    open_to_some = problem.node_sets.nodes.any(axis=0)
    dearest = np.sort(charges[open_to_some] if open_to_some.any() else charges)[::-1]
    return float(least.max()), float(dearest[: problem.n_ops].sum())


def _place_extremes(problem: Problem, places: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (n_ops,) the least and the largest value of each operator's allowed nodes."""
    if places.ndim == 1:
        return problem.node_sets.extremes(places)
    usable = problem.allowed | ~problem.allowed.any(axis=1, keepdims=True)
    least, most = np.where(usable, places, np.inf), np.where(usable, places, -np.inf)
    return least.min(axis=1), most.max(axis=1)


def _stream_extremes(problem: Problem, table: LinkTable) -> _Extremes:
    """Return the extremes per stream; streams whose ends have the same allowed nodes share the work."""
    application, node_sets = problem.application, problem.node_sets
    n_sets = len(node_sets.nodes)
    source, target = application.stream_source, application.stream_target
    pairs, member = np.unique(
        node_sets.member[source] * n_sets + node_sets.member[target], return_inverse=True
    )
    bounds = np.zeros((len(pairs), 2))
    nodes = [node_sets.listed(k) for k in range(n_sets)]
    for k, (a, b) in enumerate(zip(pairs // n_sets, pairs % n_sets, strict=True)):
        bounds[k] = table.extremes(nodes[a], nodes[b], BLOCK_VALUES // len(pairs))
    bounds = np.where((source == target)[:, None], 0.0, bounds[member])
    return _Extremes(bounds[:, 0], bounds[:, 1])


def _longest_path(application: Application, execution_ms: FloatArray, delay_ms: FloatArray) -> float:
    arrival = application.levels.forward.longest(execution_ms, lambda streams: delay_ms[streams])
    return float(application.graphs.response(arrival + execution_ms))
