"""Greedy first-fit over nodes sorted by link penalty (paper 000, section 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.first_fit import AT_ONCE, NodeOrder, breadth_first_operators, place_in_order
from scheduler.construct.penalty import LinkPenalty
from scheduler.contract.strategy import Context, Progress, Suggestion
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

WORK = 250_000
"""Operators, streams and nodes that all tries together may touch when nothing is pinned."""
LEAST_TRIES = 8
"""Tries however large the problem is."""
REPAIR_WORK = 250_000
"""Operators times nodes of all tries together in which first-fit gets stuck."""
LOOKED_AT = 128
"""Nodes whose surroundings are looked at to choose those that are tried, if they cannot all be."""


def pinned_nodes(problem: Problem) -> IntArray:
    """Return P: the nodes, ascending, that host operators with a single allowed node."""
    return np.flatnonzero(problem.node_sets.nodes[problem.node_sets.size == 1].any(axis=0))


def greedy_placement(problem: Problem, context: Context) -> Suggestion:
    """Place operators breadth-first on the first fitting node of the list L.

    Without a pinned operator nodes in turn serve as P = {u}, as if sources and sinks were pinned
    there (section 4.2), and the best placement counts; among equals, that of the first u. These are all
    nodes, or on large problems those with the nearest room around them (`_centres`). A deadline cuts that
    enumeration short, after at least one node; every better placement on the way is reported.

    Complexity: O(n_ops + n_streams + n_nodes log n_nodes) after the extremes of delta; without pins times
    the number of tries, which is at most n_nodes and keeps the whole below `WORK` as far as `LEAST_TRIES`
    permits. Where first-fit gets stuck, a try takes far longer, and there are no more of these than
    `REPAIR_WORK` permits, but at least one.
    """
    penalty = LinkPenalty.of(problem)
    sequence = breadth_first_operators(problem)
    pinned = pinned_nodes(problem)
    if pinned.size:
        return place_in_order(problem, NodeOrder(penalty.order(pinned)), sequence)
    best: Suggestion | None = None
    best_rank = (0, 0)
    stuck = max(1, REPAIR_WORK // (problem.n_ops * problem.n_nodes))
    for u in _centres(problem, penalty):
        suggestion = place_in_order(problem, NodeOrder(penalty.order(np.array([u]))), sequence)
        if suggestion.placement is None:
            if suggestion.proved:
                return suggestion
            best = best or suggestion
        else:
            worth = evaluate(problem, suggestion.placement)
            if best is None or best.placement is None or worth.rank < best_rank:
                best, best_rank = suggestion, worth.rank
                context.report(Progress(worth.objective, None, "greedy", suggestion.placement))
        stuck -= suggestion.reason != AT_ONCE
        if context.deadline.expired() or not stuck:
            break
    if best is None:
        raise AssertionError("a network has at least one node")
    return best


def _centres(problem: Problem, penalty: LinkPenalty) -> list[int]:
    """Return the nodes to try as P = {u}, all of them if that is no more than `WORK`.

    Otherwise some are looked at, evenly spread over the list of nodes, so that a site counts as much as it
    has nodes, and those with the narrowest surroundings are taken, the narrowest first.
    """
    rows = problem.n_ops + len(problem.application.streams)
    size = rows + problem.n_nodes
    if problem.rules:  # they are asked anew for every operator
        size += rows * problem.n_ops
    tries = max(LEAST_TRIES, WORK // size)
    if tries >= problem.n_nodes:
        return list(range(problem.n_nodes))
    looked_at = min(max(LOOKED_AT, tries), problem.n_nodes)
    some = np.unique(np.linspace(0, problem.n_nodes - 1, looked_at).astype(np.int64))
    reach = np.array([_reach(problem, penalty.columns(some[k : k + 1])[:, 0]) for k in range(len(some))])
    nearest: list[int] = some[np.argsort(reach, kind="stable")[:tries]].tolist()
    return nearest


def _reach(problem: Problem, column: FloatArray) -> float:
    """Return the mean penalty to a node from the nearest ones that together hold all demands."""
    asked = problem.demand.sum(axis=0)
    wanted = asked > 0
    if not wanted.any():
        return 0.0
    share = (problem.capacity[:, wanted] / asked[wanted]).min(axis=1)
    order = np.argsort(column, kind="stable")
    held = np.minimum(np.cumsum(share[order]), 1.0)
    return float(np.diff(held, prepend=0.0) @ column[order])
