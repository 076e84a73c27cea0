"""`odp-ps`: ODP on a pruned space, the smallest set of near nodes that suffices (paper 000, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.construct.greedy_placement import greedy_placement, pinned_nodes
from scheduler.construct.penalty import link_penalty
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.reduce.clustering import between, nested_sets
from scheduler.reduce.narrowing import PROOF_SIZE, limit_time, solve_narrowed
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class OdpPsParameters:
    """Settings of `odp-ps`.

    Attributes:
        proof_size: Without a deadline the exact solver is used on up to so many single moves, operators x
            nodes (>= 0), and local search only above: an exact solution may take hours.
    """

    proof_size: int = PROOF_SIZE

    def __post_init__(self) -> None:
        whole_number("proof_size", self.proof_size, 0)


def odp_ps(problem: Problem, parameters: OdpPsParameters, context: Context, /) -> Suggestion:
    """Solve ODP on the smallest of nested sets that strictly contains P and has a placement (Algorithm 2).

    Nodes are joined in pairs of little penalty, the pairs in pairs again, and so on (`nested_sets`). P are
    the nodes of pinned operators; if there are none, the nodes where greedy puts sources and sinks (section
    4.2), which then stay free to move within the set. The greedy placement is returned if it is better. Sets
    that greedy proves to be too small are passed over; one on which it finds no placement, although there
    may be one, gets half of the time that is left.

    Complexity: O(n_nodes^2 log n_nodes), then one exact solution per set, on twice as many nodes each time.
    """

    def sets(first: Suggestion) -> Iterator[tuple[IntArray, Context]]:
        for nodes in _ever_larger(problem, _references(problem, first.placement)):
            fitted = greedy_placement(restrict(problem, nodes), context)
            if fitted.placement is not None or nodes.size == problem.n_nodes:
                yield nodes, context
            elif not fitted.proved:
                yield nodes, limit_time(context, 0.5)

    return solve_narrowed(problem, sets, parameters.proof_size, context)


def _references(problem: Problem, placement: IntArray | None) -> IntArray:
    """Return P; empty if nothing is pinned and no placement is known."""
    pinned = pinned_nodes(problem)
    if pinned.size or placement is None:
        return pinned
    edges = problem.application.critical_edges()
    inner = {source for source, _ in edges} & {target for _, target in edges}
    return np.unique([placement[i] for i in range(problem.n_ops) if i not in inner])


def _ever_larger(problem: Problem, references: IntArray) -> Iterator[IntArray]:
    """Yield the nested sets from the smallest one that strictly contains the references up to all nodes."""
    inside = references
    for nodes in nested_sets(between(link_penalty(problem))):
        if nodes.size > inside.size and np.isin(inside, nodes).all():
            inside = nodes
            yield nodes
    if inside.size < problem.n_nodes or inside is references:
        yield np.arange(problem.n_nodes)


ENTRY = StrategyEntry(
    name="odp-ps",
    solve=odp_ps,
    parameters=OdpPsParameters,
    summary="the exact solver on the smallest set of near nodes that suffices",
    anytime=True,
    never_worse_than_greedy=True,
)
