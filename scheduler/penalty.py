"""The link penalty delta: how far a link is from an ideal one (paper 000, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.delays import BLOCK_VALUES, KEPT_MATRIX, Coordinates

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem

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
    """delta = w_r delta_R + w_a delta_A + w_z delta_Z, in [0, 1], for the columns that are asked for.

    Each is the position of a pair (u, v) between the best and the worst pair of the network in what two
    reference operators on u and v would see:
    R~ = d_(u,v) + R_perp / S_u + R_perp / S_v; log A~ = log A_(u,v) + log A_u + log A_v, and log A_u alone
    when u = v; Z~ = lambda_perp d_(u,v). A metric in which all pairs are equal adds nothing.

    With coordinates of more than 512 nodes the worst R~ and Z~ are bounds: the longest delay that the box
    around all nodes permits, and the two slowest nodes.

    Attributes:
        problem: The problem.
        extremes: Per term (R~, -log A~, Z~) the least and the largest value.
    """

    problem: Problem
    extremes: tuple[tuple[float, float], ...]

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
        found = [(np.inf, -np.inf)] * 3
        for first in range(0, count, step):
            block = _terms(problem, np.arange(first, min(first + step, count)))
            found = [
                (min(least, float(term.min())), max(most, float(term.max())))
                for (least, most), term in zip(found, block, strict=True)
            ]
        return LinkPenalty(problem, tuple(found))

    def columns(self, references: IntArray) -> FloatArray:
        """Return (n_nodes, n_references) delta(u, v) of every node u and each v of the references."""
        weights = self.problem.objective.weights
        factors = (weights["response_time"], weights["availability"], weights["network_usage"])
        terms = _terms(self.problem, references)
        penalty = np.zeros(terms[0].shape)
        for factor, term, extremes in zip(factors, terms, self.extremes, strict=True):
            penalty += factor * _position(term, *extremes)
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


def _terms(problem: Problem, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return R~, -log A~ and Z~ from every node to those of some columns, (n_nodes, len(columns)) each."""
    network = problem.network
    per_node = REFERENCE_EXECUTION_MS / network.speedup
    delay = network.delays.block(np.arange(problem.n_nodes), columns)
    response = delay + per_node[:, None] + per_node[columns][None, :]
    log_node = np.log(network.availability)
    log_pair = log_node[:, None] + log_node[columns][None, :]
    if network.link_availability is not None:
        log_pair = log_pair + np.log(network.link_availability[:, columns])
    log_pair[columns, np.arange(len(columns))] = log_node[columns]
    return response, -log_pair, REFERENCE_RATE * delay


def _bounds(problem: Problem) -> tuple[tuple[float, float], ...]:
    """Return bounds of the three terms over all pairs, of which there are too many to look at."""
    network, every = problem.network, np.arange(problem.n_nodes)
    _, longest = network.delays.extremes(every, every)
    per_node = REFERENCE_EXECUTION_MS / network.speedup
    node = -np.log(network.availability)
    link = 0.0 if network.link_availability is None else -float(np.log(network.link_availability).min())
    # no pair is better than the best node alone
    return (
        (2 * float(per_node.min()), longest + 2 * float(per_node.max())),
        (float(node.min()), 2 * float(node.max()) + link),
        (0.0, REFERENCE_RATE * longest),
    )


def _position(values: FloatArray, least: float, most: float) -> FloatArray:
    """Return where each value lies between the least (0) and the largest (1); 0 if they are equal."""
    if most - least <= 1e-12 * max(1.0, abs(least), abs(most)):
        return np.zeros_like(values)
    position: FloatArray = (values - least) / (most - least)
    return position
