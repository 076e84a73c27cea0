"""`hierarchical`: ODP on virtual data centres, then within those that it used (paper 000, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import whole_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion, ignore
from scheduler.reduce.hierarchy import Hierarchy, create_hierarchy
from scheduler.reduce.narrowing import PROOF_SIZE, limit_time, solve_narrowed, solve_on_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class HierarchicalParameters:
    """Settings of `hierarchical`.

    Attributes:
        grouping_factor: g: each level has g times as many virtual data centres as the one above (>= 2).
        proof_size: Without a deadline the exact solver is used on up to so many single moves, operators x
            nodes (>= 0), and local search only above: an exact solution may take hours.
    """

    grouping_factor: int = 2
    proof_size: int = PROOF_SIZE

    def __post_init__(self) -> None:
        whole_number("grouping_factor", self.grouping_factor, 2)
        whole_number("proof_size", self.proof_size, 0)


def hierarchical(problem: Problem, parameters: HierarchicalParameters, context: Context, /) -> Suggestion:
    """Solve ODP on ever finer levels of a hierarchy, each within what the one above used (Algorithm 1).

    Sums of capacities promise more than single nodes hold, so a level may turn out infeasible. It then gets
    what a higher and higher level used, in the end everything. The greedy placement is returned if
    it is better. Every level gets an equal share of the time that is left.

    Complexity: O(n_nodes^2) per level for the hierarchy, then one exact solution per level on few nodes.
    """

    def sets(_first: Suggestion) -> Iterator[tuple[IntArray, Context]]:
        hierarchy = create_hierarchy(problem, parameters.grouping_factor, context.random)
        used: list[IntArray] = []
        for level, coarse in enumerate(hierarchy.levels[:-1]):
            # F on virtual nodes is that of no placement, so it is not reported
            part = replace(limit_time(context, 1.0 / (len(hierarchy.levels) - level)), report=ignore)
            tried = ((nodes, part) for nodes in _candidates(hierarchy, used))
            nodes, found = solve_on_first(coarse, tried, parameters.proof_size, part.deadline, quick=True)
            used.append(nodes if found.placement is None else np.unique(found.placement))
        yield from ((nodes, context) for nodes in _candidates(hierarchy, used))

    return solve_narrowed(problem, sets, parameters.proof_size, context)


def _candidates(hierarchy: Hierarchy, used: list[IntArray]) -> Iterator[IntArray]:
    """Yield ever more nodes of the next level, each time those within what a higher level used; then all."""
    level = len(used)
    chosen = np.zeros(hierarchy.levels[level].n_nodes, dtype=np.bool_)
    for above in reversed(range(level)):
        wider = chosen | np.isin(hierarchy.ancestors(level, above), used[above])
        if wider.sum() > chosen.sum():
            chosen = wider
            yield np.flatnonzero(chosen)
    if not chosen.all():
        yield np.arange(chosen.size)


ENTRY = StrategyEntry(
    name="hierarchical",
    solve=hierarchical,
    parameters=HierarchicalParameters,
    summary="the exact solver on virtual data centres, then within those that it used",
    anytime=True,
    never_worse_than_greedy=True,
)
