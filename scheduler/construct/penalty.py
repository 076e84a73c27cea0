"""The link penalty delta: how far a link is from an ideal one (paper 000, section 4.3), for all metrics."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.model.link_table import BLOCK_VALUES, KEPT_MATRIX, Coordinates
from scheduler.model.objective import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

REFERENCE_EXECUTION_MS = 1.0
"""R_perp, the unitary execution time of the two reference operators."""
REFERENCE_RATE = 1.0
"""lambda_perp, the unitary data rate between them; it cancels out."""


def link_penalty(problem: Problem) -> FloatArray:
    """Return delta(u, v) in [0, 1] for every ordered pair of nodes, (n_nodes, n_nodes).

    Complexity: O(n_nodes^2) in time and memory; `LinkPenalty` gives single columns.
    """
    return LinkPenalty.of(problem).columns(np.arange(problem.n_nodes))


@dataclass(frozen=True, eq=False)
class LinkPenalty:
    """delta = w_r delta_R + w_a delta_A + w_z delta_Z + w_t delta_T + w_c delta_C, in [0, 1], by columns.

    Each is the position of a pair (u, v) between the best and the worst pair of the network in what two
    reference operators on u and v would see:
    R~ = d_(u,v) + R_perp / S_u + R_perp / S_v; log A~ = log A_(u,v) + log A_u + log A_v, and log A_u alone
    when u = v; Z~ = lambda_perp d_(u,v). Likewise for the metrics that the paper does not have:
    T~ = 1 if u != v, and else 0; C~ = the costs of both nodes and of the link. A metric of weight 0, or in
    which all pairs are equal, adds nothing.

    With coordinates of more than 512 nodes the worst values are bounds: the longest delay that the box
    around all nodes permits, and the two slowest, least available or dearest nodes.

    Attributes:
        problem: The problem.
        extremes: By name of each metric with a weight, the least and the largest value of its term.
    """

    problem: Problem
    extremes: Mapping[str, tuple[float, float]]

    @staticmethod
    def of(problem: Problem) -> LinkPenalty:
        """Return the penalty of a problem, its extremes looked up once.

        Complexity: O(n_nodes^2) with a matrix or up to 512 nodes, else O(n_nodes); memory O(n_nodes).
        """
        network = problem.network
        count = problem.n_nodes
        if isinstance(network.delays, Coordinates) and count > KEPT_MATRIX:
            return LinkPenalty(problem, _bounds(problem))
        step = max(1, BLOCK_VALUES // count)
        found = dict.fromkeys(_weighed(problem), (np.inf, -np.inf))
        for first in range(0, count, step):
            columns = np.arange(first, min(first + step, count))
            for metric, (least, most) in found.items():
                term = _TERMS[metric](problem, columns)
                found[metric] = min(least, float(term.min())), max(most, float(term.max()))
        return LinkPenalty(problem, found)

    def columns(self, references: IntArray) -> FloatArray:
        """Return (n_nodes, n_references) delta(u, v) of every node u and each v of the references."""
        penalty = np.zeros((self.problem.n_nodes, len(references)))
        for metric, extremes in self.extremes.items():
            term = _TERMS[metric](self.problem, references)
            penalty += self.problem.objective.weights[metric] * _position(term, *extremes)
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


def _weighed(problem: Problem) -> list[str]:
    return [metric for metric in METRICS if problem.objective.weights[metric] > 0.0]


def _delay(problem: Problem, columns: IntArray) -> FloatArray:
    """Return delays from every node to those of some columns, (n_nodes, len(columns)), as all terms are."""
    return problem.network.delays.block(np.arange(problem.n_nodes), columns)


def _response(problem: Problem, columns: IntArray) -> FloatArray:
    per_node = REFERENCE_EXECUTION_MS / problem.network.speedup
    return _delay(problem, columns) + per_node[:, None] + per_node[columns][None, :]


def _unavailability(problem: Problem, columns: IntArray) -> FloatArray:
    network = problem.network
    log_node = np.log(network.availability)
    log_pair = log_node[:, None] + log_node[columns][None, :]
    if network.link_availability is not None:
        log_pair = log_pair + np.log(network.link_availability[:, columns])
    log_pair[columns, np.arange(len(columns))] = log_node[columns]
    negative: FloatArray = -log_pair
    return negative


def _usage(problem: Problem, columns: IntArray) -> FloatArray:
    return REFERENCE_RATE * _delay(problem, columns)


def _apart(problem: Problem, columns: IntArray) -> FloatArray:
    apart: FloatArray = (np.arange(problem.n_nodes)[:, None] != columns).astype(np.float64)
    return apart


def _cost(problem: Problem, columns: IntArray) -> FloatArray:
    network = problem.network
    cost: FloatArray = network.cost[:, None] + network.cost[columns]
    return cost if network.link_cost is None else cost + network.link_cost[:, columns]


_TERMS: Final[Mapping[str, Callable[[Problem, IntArray], FloatArray]]] = MappingProxyType(
    dict(zip(METRICS, (_response, _unavailability, _usage, _apart, _cost), strict=True))
)
"""R~, -log A~, Z~, T~ and C~ by metric."""


def _bounds(problem: Problem) -> dict[str, tuple[float, float]]:
    """Return bounds of the terms over all pairs, of which there are too many to look at."""
    network, every = problem.network, np.arange(problem.n_nodes)
    _, longest = network.delays.extremes(every, every)
    per_node = REFERENCE_EXECUTION_MS / network.speedup
    node = -np.log(network.availability)
    link = 0.0 if network.link_availability is None else -float(np.log(network.link_availability).min())
    dearest = 0.0 if network.link_cost is None else float(network.link_cost.max())
    # no pair is better than the best node alone
    bounds = (
        (2 * float(per_node.min()), longest + 2 * float(per_node.max())),
        (float(node.min()), 2 * float(node.max()) + link),
        (0.0, REFERENCE_RATE * longest),
        (0.0, 1.0),
        (2 * float(network.cost.min()), 2 * float(network.cost.max()) + dearest),
    )
    weighed = _weighed(problem)
    return {metric: both for metric, both in zip(METRICS, bounds, strict=True) if metric in weighed}


def _position(values: FloatArray, least: float, most: float) -> FloatArray:
    """Return where each value lies between the least (0) and the largest (1); 0 if they are equal."""
    if most - least <= 1e-12 * max(1.0, abs(least), abs(most)):
        return np.zeros_like(values)
    position: FloatArray = (values - least) / (most - least)
    return position
