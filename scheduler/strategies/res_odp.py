"""`res-odp`: relax ODP, expand the nodes that it uses, and solve on them (paper 000, section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.clustering import between
from scheduler.exact.relaxation import relaxed_placement
from scheduler.narrowing import concluded, limited, solve_on
from scheduler.penalty import link_penalty
from scheduler.strategies.greedy import greedy
from scheduler.strategy import Context, NoParameters, Suggestion

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem

SHARE_OF_RELAXATION = 0.5
"""Of the time that is left."""
LEAST_SHARE = 1e-6
"""x_(i,u) of a relaxed placement that are lower count as 0: solvers are no more exact."""
LEAST_PENALTY = 1e-6
"""Neighbours with less penalty are drawn as if they had this much."""


@dataclass(frozen=True)
class ResOdpParameters:
    """Settings of `res-odp`.

    Attributes:
        neighbours: k: nodes that are added for each candidate (>= 1).
    """

    neighbours: int = 5

    def __post_init__(self) -> None:
        given = self.neighbours
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise ValueError(f"neighbours: expected a whole number >= 1, got {given!r}")


def res_odp(problem: Problem, parameters: ResOdpParameters, context: Context, /) -> Suggestion:
    """Solve the linear relaxation, then ODP on nodes that it uses and neighbours of them (Algorithm 3).

    Of the nodes that share an operator in the relaxation one is drawn uniformly. If the candidates have no
    placement, each gets neighbours again, in the end all nodes. The greedy placement is
    returned if it is better.

    Complexity: that of one linear program on all nodes and one exact solution on the candidates.
    """
    first = greedy(problem, NoParameters(), context)
    if context.deadline.expired() or (first.placement is None and first.proved):
        return first
    shares = relaxed_placement(problem, limited(context, SHARE_OF_RELAXATION))
    distance = between(link_penalty(problem))
    nodes = _drawn(shares, context.random)
    while True:
        nodes = _expanded(distance, nodes, parameters.neighbours, context.random)
        found = solve_on(problem, nodes, context)
        enough = found.placement is not None or nodes.size == problem.n_nodes
        if enough or context.deadline.expired():
            return concluded(problem, first, nodes, found)


def _drawn(shares: FloatArray, random: np.random.Generator) -> IntArray:
    """Return the candidates, ascending: per operator one of the nodes that share it, all as likely."""
    return np.unique([random.choice(np.flatnonzero(row > LEAST_SHARE)) for row in shares])


def _expanded(
    distance: FloatArray, candidates: IntArray, count: int, random: np.random.Generator
) -> IntArray:
    """Return the candidates and new neighbours of each, ascending.

    A node is drawn with a probability that is inverse to its penalty.

    Args:
        distance: (n_nodes, n_nodes) mean penalty of both directions.
        candidates: Node indices.
        count: Neighbours of each, as long as there are others.
        random: Draws them.
    """
    chosen = np.zeros(len(distance), dtype=np.bool_)
    chosen[candidates] = True
    for u in candidates:
        others = np.flatnonzero(~chosen)
        attraction = 1.0 / np.maximum(distance[u, others], LEAST_PENALTY)
        if others.size:
            drawn = random.choice(
                others, size=min(count, others.size), replace=False, p=attraction / attraction.sum()
            )
            chosen[drawn] = True
    return np.flatnonzero(chosen)
