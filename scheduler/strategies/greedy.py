"""`greedy`: greedy first-fit over nodes sorted by link penalty (paper 000, section 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation import evaluate
from scheduler.first_fit import breadth_first_operators, fixed_order, place_in_order
from scheduler.penalty import link_penalty

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem
    from scheduler.strategy import Context, NoParameters, Suggestion


def pinned_nodes(problem: Problem) -> IntArray:
    """Return P: the nodes, ascending, that host operators with a single allowed node."""
    pinned = problem.allowed.sum(axis=1) == 1
    return np.unique(problem.allowed[pinned].argmax(axis=1))


def sorted_by_penalty(penalty: FloatArray, references: IntArray) -> IntArray:
    """Return the list L: nodes by ascending sum of delta(u, v) over v in P, then by index.

    Args:
        penalty: (n_nodes, n_nodes) delta.
        references: Node indices P.
    """
    return np.argsort(penalty[:, references].sum(axis=1), kind="stable")


def greedy(problem: Problem, _parameters: NoParameters, context: Context, /) -> Suggestion:
    """Place operators breadth-first on the first fitting node of the list L.

    Without a pinned operator every node in turn serves as P = {u}, as if sources and sinks were pinned
    there (section 4.2), and the best placement counts; among equals, that of the first u. A deadline cuts
    that enumeration short, after at least one node.

    Complexity: O(n_ops x n_nodes) after delta, times n_nodes without pins.
    """
    penalty = link_penalty(problem)
    sequence = breadth_first_operators(problem)
    pinned = pinned_nodes(problem)
    if pinned.size:
        return place_in_order(problem, fixed_order(sorted_by_penalty(penalty, pinned)), sequence)
    best: Suggestion | None = None
    best_rank = (0, 0)
    for u in range(problem.n_nodes):
        nodes = sorted_by_penalty(penalty, np.array([u]))
        suggestion = place_in_order(problem, fixed_order(nodes), sequence)
        if suggestion.placement is None:
            if suggestion.proved:
                return suggestion
            best = best or suggestion
        else:
            rank = evaluate(problem, suggestion.placement).rank
            if best is None or best.placement is None or rank < best_rank:
                best, best_rank = suggestion, rank
        if context.deadline.expired():
            break
    if best is None:
        raise AssertionError("a network has at least one node")
    return best
