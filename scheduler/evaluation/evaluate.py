"""What a placement is worth, and which constraints it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.evaluation.critical_path import longest_path
from scheduler.model.metrics.catalogue import METRICS
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.model.metrics.terms import DELAY
from scheduler.model.use import nodes_in_use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

OBJECTIVE_STEP = 1e-9
"""Two placements whose F differs by less count as equal in F."""
DELAY_STEP_MS = 1e-9
"""Likewise for the mean delay of streams, in ms."""

Rank = tuple[int, int]


@dataclass(frozen=True)
class Evaluation:
    """Objective and metrics of one placement.

    Attributes:
        objective: F (eq. 15); lower is better.
        values: Every metric as it is stated, by name: R (eq. 5-8) in ms, A (eq. 9-12) as a fraction, ...
        mean_delay_ms: Mean over all streams of their delay, weighted by rate; breaks ties of F.
        critical_path: Operators of a longest path of each graph, each from source to sink; of one graph it
            takes `response_time_ms`.
    """

    objective: float
    values: Mapping[str, float]
    mean_delay_ms: float
    critical_path: tuple[int, ...]

    @property
    def response_time_ms(self) -> float:
        """R."""
        return self.values[RESPONSE_TIME.name]

    @property
    def rank(self) -> Rank:
        """F, then mean delay, each in whole steps: a total order in which lower is better."""
        return rank_of(self.objective, self.mean_delay_ms)


def rank_of(objective: float, mean_delay_ms: float) -> Rank:
    """Return F, then mean delay (ms), each in whole steps."""
    return round(objective / OBJECTIVE_STEP), round(mean_delay_ms / DELAY_STEP_MS)


def evaluate(problem: Problem, placement: IntArray) -> Evaluation:
    """Return the worth of a placement; constraints are not looked at.

    Complexity: O(n_ops + n_streams).

    Args:
        problem: The problem.
        placement: (n_ops,) node of each operator.
    """
    response_ms, path = longest_path(problem, placement)
    sums = metric_sums(problem, placement)
    raw = {RESPONSE_TIME.name: response_ms}
    for name, total in sums.raw.items():
        raw[name] = float(total)
    return Evaluation(
        objective=problem.scale.objective(raw),
        values={name: METRICS[name].statement.of(total) for name, total in raw.items()},
        mean_delay_ms=float(sums.mean_delay_ms),
        critical_path=path,
    )


@dataclass(frozen=True)
class MetricSums:
    """What is a sum over operators and streams, one value per placement; for one, a scalar.

    Attributes:
        raw: By name of each additive metric, (n_placements,) its sum, of which less is better.
        mean_delay_ms: (n_placements,) rate-weighted mean delay of the streams.
    """

    raw: Mapping[str, FloatArray]
    mean_delay_ms: FloatArray


def metric_sums(problem: Problem, placements: IntArray) -> MetricSums:
    """Return the additive metrics of one placement (n_ops,), or of many as columns (n_ops, n_placements)."""
    application, terms = problem.application, problem.terms
    start, end = placements[application.stream_source], placements[application.stream_target]
    links = [table.between(start, end) for table in terms.tables]
    raw = {}
    for name, weighed in terms.links.items():
        total: Any = _at_places(terms.places[name], placements) if name in terms.places else 0.0
        for slot, weight in weighed:
            total = total + (links[slot].sum(axis=0) if weight is None else _weighted(weight, links[slot]))
        if name in terms.set_up:
            total = total + charges_of_use(terms.set_up[name], placements)
        raw[name] = total
    return MetricSums(raw, _weighted(mean_weights(problem), links[DELAY]))


def _at_places(places: FloatArray, placements: IntArray) -> FloatArray:
    """Return the sum over operators of the value of their place."""
    if places.ndim == 1:
        values = places[placements]
    else:
        operators = np.arange(len(places)).reshape(-1, *[1] * (placements.ndim - 1))
        values = places[operators, placements]
    total: FloatArray = values.sum(axis=0)
    return total


def charges_of_use(charges: FloatArray, placements: IntArray) -> FloatArray:
    """Return the sum of charges (n_nodes,) of the nodes in use, of one placement or of many as columns."""
    total: FloatArray = charges @ nodes_in_use(placements, len(charges))
    return total


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
