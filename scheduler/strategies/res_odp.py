"""`res-odp`: relax ODP, expand the nodes that it uses, and solve on them (paper 000, section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.construct.penalty import link_penalty
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import relaxed_placement
from scheduler.reduce.clustering import between
from scheduler.reduce.narrowing import PROOF_SIZE, limit_time, solve_narrowed
from scheduler.search.local_optimum import local_optimum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

SHARE_OF_RELAXATION = 0.5
"""Of the time that is left."""
MOST_LINKS = 1_000_000
"""Link variables of a relaxation, edges of the application x nodes^2; more take gigabytes and minutes."""
LEAST_SHARE = 1e-6
"""x_(i,u) of a relaxed placement that are lower count as 0: solvers are no more exact."""
LEAST_PENALTY = 1e-6
"""Neighbours with less penalty are drawn as if they had this much."""


@dataclass(frozen=True)
class ResOdpParameters:
    """Settings of `res-odp`.

    Attributes:
        neighbours: k: nodes that are added for each candidate (>= 1).
        relaxation_size: Without a deadline the relaxation is solved on up to so many single moves, operators
            x nodes (>= 0); above, the nodes that `local-search` uses are the candidates.
        proof_size: Without a deadline the exact solver is used on up to so many single moves, operators x
            nodes (>= 0), and local search only above: an exact solution may take hours.
    """

    neighbours: int = 5
    relaxation_size: int = 1000
    proof_size: int = PROOF_SIZE

    def __post_init__(self) -> None:
        whole_number("neighbours", self.neighbours, 1)
        whole_number("relaxation_size", self.relaxation_size, 0)
        whole_number("proof_size", self.proof_size, 0)


def res_odp(problem: Problem, parameters: ResOdpParameters, context: Context, /) -> Suggestion:
    """Solve the linear relaxation, then ODP on nodes that it uses and neighbours of them (Algorithm 3).

    Of the nodes that share an operator in the relaxation one is drawn uniformly. If the candidates have no
    placement, each gets neighbours again, in the end all nodes. The greedy placement is
    returned if it is better.

    Complexity: that of one linear program on all nodes and one exact solution on the candidates.
    """

    def sets(_first: Suggestion) -> Iterator[tuple[IntArray, Context]]:
        distance = between(link_penalty(problem))
        nodes = _candidates(problem, parameters, context)
        while True:
            nodes = expand(distance, nodes, parameters.neighbours, context.random)
            yield nodes, context
            if nodes.size == problem.n_nodes:
                return

    return solve_narrowed(problem, sets, parameters.proof_size, context)


def _candidates(problem: Problem, parameters: ResOdpParameters, context: Context) -> IntArray:
    links = len(class_form(problem).edges) * problem.n_nodes**2
    moves = problem.n_ops * problem.n_nodes
    if links > MOST_LINKS or moves > context.deadline.otherwise(parameters.relaxation_size):
        descended = local_optimum(problem, context)
        if descended.placement is not None:
            return np.unique(descended.placement)
    return draw_candidates(
        relaxed_placement(problem, limit_time(context, SHARE_OF_RELAXATION)), context.random
    )


def draw_candidates(shares: FloatArray, random: np.random.Generator) -> IntArray:
    """Return the candidates, ascending: per operator one of the nodes that share it, all as likely."""
    return np.unique([random.choice(np.flatnonzero(row > LEAST_SHARE)) for row in shares])


def expand(distance: FloatArray, candidates: IntArray, count: int, random: np.random.Generator) -> IntArray:
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
            added = random.choice(
                others, size=min(count, others.size), replace=False, p=attraction / attraction.sum()
            )
            chosen[added] = True
    return np.flatnonzero(chosen)


ENTRY = StrategyEntry(
    name="res-odp",
    solve=res_odp,
    parameters=ResOdpParameters,
    summary="the exact solver on the nodes that a linear relaxation uses, and neighbours",
    anytime=True,
    never_worse_than_greedy=True,
)
