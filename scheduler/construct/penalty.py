"""The link penalty delta: how far a link is from an ideal one (paper 000, section 4.3), for all metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.link_table import BLOCK_VALUES, KEPT_MATRIX, Coordinates, LinkTable
from scheduler.model.metrics.catalogue import ADDITIVE_METRICS
from scheduler.model.metrics.response_time import RESPONSE_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.metrics.record import AdditiveMetric
    from scheduler.model.problem import Problem

REFERENCE_EXECUTION_MS = 1.0
"""R_perp, the unitary execution time of the two reference operators; their data rate cancels out."""


def link_penalty(problem: Problem) -> FloatArray:
    """Return delta(u, v) in [0, 1] for every ordered pair of nodes, (n_nodes, n_nodes).

    Complexity: O(n_nodes^2) in time and memory; `LinkPenalty` gives single columns.
    """
    return LinkPenalty.of(problem).columns(np.arange(problem.n_nodes))


@dataclass(frozen=True, eq=False)
class _ReferencePair:
    """What two reference operators on nodes u and v see of a metric: link (u, v) + place u + place v.

    Attributes:
        places: (n_nodes,) value of a place.
        links: Weight and table of each link term.
        shared_place_once: Whether a node that both are on counts once.
    """

    places: FloatArray
    links: tuple[tuple[float, LinkTable], ...]
    shared_place_once: bool = False

    @staticmethod
    def of_response(problem: Problem) -> _ReferencePair:
        """Return the pair for R, by the delay and both execution times."""
        links = ((1.0, problem.network.delays),)
        return _ReferencePair(REFERENCE_EXECUTION_MS / problem.network.speedup, links)

    @staticmethod
    def of(problem: Problem, metric: AdditiveMetric) -> _ReferencePair:
        """Return the pair for a sum; where operators or streams differ, it has the mean of their terms."""
        terms = problem.terms
        places, links = terms.places.get(metric.name), terms.links[metric.name]
        # the weight of the only term cancels out
        alone = places is None and len(links) == 1 and metric.name not in terms.set_up
        weights = [1.0 if alone or weight is None else float(weight.mean()) for _, weight in links]
        tables = [terms.tables[slot] for slot, _ in links]
        if places is None:
            places = np.zeros(problem.n_nodes)
        set_up = terms.set_up.get(metric.name)
        if set_up is not None:
            places = places + set_up
        return _ReferencePair(
            places if places.ndim == 1 else places.mean(axis=0),
            tuple(zip(weights, tables, strict=True)),
            metric.shared_place_once or set_up is not None,
        )

    def columns(self, columns: IntArray) -> FloatArray:
        """Return (n_nodes, len(columns)) the values of pairs."""
        every = np.arange(len(self.places))
        value = np.zeros((len(every), len(columns)))
        for weight, table in self.links:
            value += weight * table.block(every, columns)
        value += self.places[:, None]
        value += self.places[columns]
        if self.shared_place_once:
            value[columns, np.arange(len(columns))] = self.places[columns]
        return value

    def bounds(self) -> tuple[float, float]:
        """Return bounds over all pairs; no pair is better than the best node alone."""
        every = np.arange(len(self.places))
        longest = sum(weight * table.extremes(every, every)[1] for weight, table in self.links)
        least = (1 if self.shared_place_once else 2) * float(self.places.min())
        return least, longest + 2 * float(self.places.max())


@dataclass(frozen=True, eq=False)
class LinkPenalty:
    """delta = w_r delta_R + w_a delta_A + w_z delta_Z + ..., in [0, 1], by columns.

    Each is the position of a pair (u, v) between the best and the worst pair of the network in what two
    reference operators on u and v would see:
    R~ = d_(u,v) + R_perp / S_u + R_perp / S_v; log A~ = log A_(u,v) + log A_u + log A_v, and log A_u alone
    when u = v; Z~ = d_(u,v). Likewise for the metrics that the paper does not have: the values of both places
    and of the link. A metric of weight 0, or in which all pairs are equal, adds nothing.

    With coordinates of more than 512 nodes the worst values are bounds: the longest delay that the box
    around all nodes permits, and the two slowest, least available or dearest nodes.

    Attributes:
        problem: The problem.
        pairs: By name of each metric with a weight, its reference pair.
        extremes: Likewise, the least and the largest value of pairs.
    """

    problem: Problem
    pairs: Mapping[str, _ReferencePair]
    extremes: Mapping[str, tuple[float, float]]

    @staticmethod
    def of(problem: Problem) -> LinkPenalty:
        """Return the penalty of a problem, its extremes looked up once.

        Complexity: O(n_nodes^2) with a matrix or up to 512 nodes, else O(n_nodes); memory O(n_nodes).
        """
        weights, count = problem.objective.weights, problem.n_nodes
        pairs = {}
        if weights[RESPONSE_TIME.name] > 0.0:
            pairs[RESPONSE_TIME.name] = _ReferencePair.of_response(problem)
        for record in ADDITIVE_METRICS:
            if weights[record.name] > 0.0:
                pairs[record.name] = _ReferencePair.of(problem, record)
        if isinstance(problem.network.delays, Coordinates) and count > KEPT_MATRIX:
            return LinkPenalty(problem, pairs, {metric: pair.bounds() for metric, pair in pairs.items()})
        step = max(1, BLOCK_VALUES // count)
        found = dict.fromkeys(pairs, (np.inf, -np.inf))
        for first in range(0, count, step):
            columns = np.arange(first, min(first + step, count))
            for metric, (least, most) in found.items():
                value = pairs[metric].columns(columns)
                found[metric] = min(least, float(value.min())), max(most, float(value.max()))
        return LinkPenalty(problem, pairs, found)

    def columns(self, references: IntArray) -> FloatArray:
        """Return (n_nodes, n_references) delta(u, v) of every node u and each v of the references."""
        penalty = np.zeros((self.problem.n_nodes, len(references)))
        for metric, extremes in self.extremes.items():
            value = self.pairs[metric].columns(references)
            penalty += self.problem.objective.weights[metric] * _position(value, *extremes)
        return penalty

    def order(self, references: IntArray) -> IntArray:
        """Return the list L: nodes by ascending sum of delta(u, v) over v in P, then by index.

        Memory: O(n_nodes x min(n_references, 2^20 / n_nodes)).
        """
        step = max(1, BLOCK_VALUES // self.problem.n_nodes)
        total = np.zeros(self.problem.n_nodes)
        for first in range(0, len(references), step):
            total += self.columns(references[first : first + step]).sum(axis=1)
        return np.argsort(total, kind="stable")


def _position(values: FloatArray, least: float, most: float) -> FloatArray:
    """Return where each value lies between the least (0) and the largest (1); 0 if they are equal."""
    if most - least <= 1e-12 * max(1.0, abs(least), abs(most)):
        return np.zeros_like(values)
    return (values - least) / (most - least)
