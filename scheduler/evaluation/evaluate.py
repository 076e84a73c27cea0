"""What a placement is worth, and which constraints it breaks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.response_time import longest_path

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.objective import Scale
    from scheduler.model.problem import Problem

OBJECTIVE_STEP = 1e-9
"""Two placements whose F differs by less count as equal in F."""
DELAY_STEP_MS = 1e-9
"""Likewise for the mean delay of streams, in ms."""

Rank = tuple[int, int]


@dataclass(frozen=True)
class Evaluation:
    """Objective and raw metrics of one placement.

    Attributes:
        objective: F (eq. 15); lower is better.
        response_time_ms: R (eq. 5-8).
        availability: A (eq. 9-12), 0-1.
        network_usage_bytes: Z (eq. 13-14): bytes under way between nodes.
        inter_node_traffic_bytes_s: Bytes per second of the streams between distinct nodes.
        cost: Price of the nodes of all operators and of the links of all streams, in cost units.
        mean_delay_ms: Mean over all streams of their delay, weighted by rate; breaks ties of F.
        critical_path: Operators of a path that takes `response_time_ms`, from source to sink.
    """

    objective: float
    response_time_ms: float
    availability: float
    network_usage_bytes: float
    inter_node_traffic_bytes_s: float
    cost: float
    mean_delay_ms: float
    critical_path: tuple[int, ...]

    @property
    def rank(self) -> Rank:
        """F, then mean delay, each in whole steps: a total order in which lower is better."""
        return round(self.objective / OBJECTIVE_STEP), round(self.mean_delay_ms / DELAY_STEP_MS)


def evaluate(problem: Problem, placement: IntArray) -> Evaluation:
    """Return the worth of a placement; constraints are not looked at.

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    response_ms, path = longest_path(problem, placement)
    sums = linear_metrics(problem, placement)
    return Evaluation(
        objective=float(sums.objective(problem.scale, np.asarray(response_ms))),
        response_time_ms=response_ms,
        availability=math.exp(-float(sums.unavailability)),
        network_usage_bytes=float(sums.usage_bytes),
        inter_node_traffic_bytes_s=float(sums.traffic_bytes_s),
        cost=float(sums.cost),
        mean_delay_ms=float(sums.mean_delay_ms),
        critical_path=path,
    )


@dataclass(frozen=True)
class LinearMetrics:
    """Metrics that are sums over operators and streams, one value per placement; for one, a scalar.

    Attributes:
        unavailability: (n_placements,) -log A (eq. 12).
        usage_bytes: (n_placements,) Z.
        traffic_bytes_s: (n_placements,) traffic between distinct nodes.
        cost: (n_placements,) price of nodes and links.
        mean_delay_ms: (n_placements,) rate-weighted mean delay of the streams.
    """

    unavailability: FloatArray
    usage_bytes: FloatArray
    traffic_bytes_s: FloatArray
    cost: FloatArray
    mean_delay_ms: FloatArray

    def objective(self, scale: Scale, response_ms: FloatArray) -> FloatArray:
        """Return F of each placement, given R of each."""
        return scale.objective(
            response_ms, self.unavailability, self.usage_bytes, self.traffic_bytes_s, self.cost
        )


def linear_metrics(problem: Problem, placements: IntArray) -> LinearMetrics:
    """Return the additive metrics of one placement (n_ops,), or of many as columns (n_ops, n_placements)."""
    application, network = problem.application, problem.network
    start, end = placements[application.stream_source], placements[application.stream_target]
    delay = network.delays.between(start, end)
    unavailability = -np.log(network.availability)[placements].sum(axis=0)
    if network.link_availability is not None:
        unavailability = unavailability - np.log(network.link_availability[start, end]).sum(axis=0)
    bandwidth = application.rate * application.tuple_bytes
    cost = network.cost[placements].sum(axis=0)
    if network.link_cost is not None:
        cost = cost + network.link_cost[start, end].sum(axis=0)
    return LinearMetrics(
        unavailability=unavailability,
        usage_bytes=_weighted(bandwidth / 1000.0, delay),
        traffic_bytes_s=_weighted(bandwidth, (start != end).astype(np.float64)),
        cost=cost,
        mean_delay_ms=_weighted(mean_weights(problem), delay),
    )


def _weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Return the weighted sum over streams; unlike a matrix product it starts no threads, which cost more."""
    total: FloatArray = np.einsum("s,s...->...", weights, values)
    return total


def mean_weights(problem: Problem) -> FloatArray:
    """Return (n_streams,) the share of each stream in the total rate; zeros if nothing flows."""
    total = float(problem.application.rate.sum())
    weights: FloatArray = (
        problem.application.rate / total if total > 0 else np.zeros_like(problem.application.rate)
    )
    return weights


@dataclass(frozen=True)
class Violation:
    """One broken constraint.

    Attributes:
        kind: ``shape``: not one node per operator; ``node``: an index that names no node; ``allowed``: a
            node not allowed for the operator; ``capacity``: a node asked for more than it has; or the kind of
            a constraint (`scheduler.model.constraints`).
        message: One sentence with the names and amounts.
    """

    kind: str
    message: str


def check(problem: Problem, placement: IntArray) -> tuple[Violation, ...]:
    """Return every constraint that the placement breaks; empty if it is feasible."""
    operators = problem.application.operators
    if placement.shape != (problem.n_ops,):
        return (
            Violation("shape", f"{placement.shape} is not one node for each of {problem.n_ops} operators"),
        )
    unknown = [
        Violation("node", f"operator {operators[i].name} is on node {u}, which does not exist")
        for i, u in enumerate(placement)
        if not 0 <= u < problem.n_nodes
    ]
    if unknown:
        return tuple(unknown)
    return tuple(
        Violation(rule.kind, sentence)
        for rule in (*problem.built_in, *problem.rules)
        for sentence in rule.broken(placement)
    )
