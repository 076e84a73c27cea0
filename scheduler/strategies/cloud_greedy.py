"""`cloud-greedy`: every operator on the cheapest cloud node with room, the baseline of paper 002."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.contract.strategy import Context, NoParameters, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import check
from scheduler.exact.flows.flow_form import blocks
from scheduler.model.capacity import fits
from scheduler.model.constraints.latency_limit import LatencyLimit
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.metrics.placement_cost import PLACEMENT_COST

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

IGNORED = (LinkBandwidth.kind, LatencyLimit.kind)
"""What it does not look at."""


def cloud_greedy(problem: Problem, _parameters: NoParameters, _context: Context, /) -> Suggestion:
    """Place operators in their order, each on the cloud node with the least placement cost that has room.

    Operators that no cloud node is allowed for are placed first, each on the cheapest of its nodes. Links are
    not looked at, neither their cost nor their bandwidth nor latency; the answer names those that are
    overfull.

    Complexity: O(n_ops x n_nodes).
    """
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    cloud = np.array([node.tier == "cloud" for node in problem.network.nodes])
    costs = problem.terms.places.get(PLACEMENT_COST.name, np.zeros(problem.n_nodes))
    costs = np.broadcast_to(costs, (problem.n_ops, problem.n_nodes))
    left = np.array(problem.capacity)
    placement = np.full(problem.n_ops, -1)
    _, members = blocks(problem)
    allowed = [problem.allowed[each].all(axis=0) for each in members]
    free = [bool((each & cloud).any() and each.sum() > 1) for each in allowed]
    for b in sorted(range(len(members)), key=lambda b: free[b]):
        group = members[b]
        where = allowed[b] & fits(problem.demand[group].sum(axis=0), left)
        if free[b]:
            where &= cloud
        if not where.any():
            return Suggestion(None, _no_room(problem, group))
        node = int(np.where(where, costs[group].sum(axis=0), np.inf).argmin())
        placement[group] = node
        left[node] -= problem.demand[group].sum(axis=0)
    for violation in check(problem, placement):
        if violation.kind not in IGNORED:
            return Suggestion(None, violation.message)
    return Suggestion(
        placement, "each operator on the cheapest cloud node with room; links were not looked at"
    )


def _no_room(problem: Problem, group: IntArray) -> str:
    names = ", ".join(problem.application.operators[i].name for i in group.tolist())
    return f"no cloud node that is allowed has room left for {names}"


ENTRY = StrategyEntry(
    name="cloud-greedy",
    solve=cloud_greedy,
    parameters=NoParameters,
    summary="every operator on the cheapest cloud node with room, whatever its links",
    scales=True,
    needs=("cloud",),
    ignores=IGNORED,
)
