"""Near nodes: the few of a network that are worth trying around others. One idea, three measures.

* `NearNodes`: by link penalty to one node. No pair of nodes is looked at before it is asked for, so that a
  descent over thousands of nodes begins at once.
* `candidates`: by link penalty to all nodes in use, with others from every site and set of allowed nodes: a
  search on these alone must be able to leave the neighbourhood that it began in.
* `candidate_lists`: by what a stream of mean weight would add to F in either direction. Link penalty weighs
  metrics by their range over pairs of nodes, F by their range over placements. It takes a table of all pairs,
  which random walks, in small problems, have anyway.

`LinkPenalty.order` is the paper's list L, of all nodes.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.greedy_placement import pinned_nodes
from scheduler.construct.penalty import LinkPenalty
from scheduler.evaluation.linear_form import linear_form
from scheduler.model.link_table import BLOCK_VALUES

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

ANCHORS = 64
"""Nodes in use around which others are looked for."""
OF_A_SET = 4
"""Nodes taken from each set of allowed nodes that is not the whole network."""
NEAREST = 128
"""Length of the candidate list of a node."""


class NearNodes:
    """The nodes nearest to others by link penalty, looked up once.

    Args:
        problem: The problem.
        count: Nodes around each, itself included.
    """

    def __init__(self, problem: Problem, count: int) -> None:
        self._penalty = LinkPenalty.of(problem)
        self._near = np.full((problem.n_nodes, min(count, problem.n_nodes)), -1, dtype=np.int64)

    def of(self, nodes: IntArray) -> IntArray:
        """Return (..., count) nodes around each of the given ones, the nearest first."""
        new = np.unique(nodes[self._near[nodes, 0] < 0])
        step = max(1, BLOCK_VALUES // len(self._near))
        kth = self._near.shape[1] - 1
        for first in range(0, len(new), step):
            some = new[first : first + step]
            columns = self._penalty.columns(some)
            nearest = np.argpartition(columns, kth, axis=0)[: kth + 1]
            order = np.argsort(np.take_along_axis(columns, nearest, axis=0), axis=0)
            self._near[some] = np.take_along_axis(nearest, order, axis=0).T
        return self._near[nodes]


def candidate_lists(problem: Problem) -> IntArray:
    """Return (n_nodes, k) the nodes that add least to F if streams lead to them from a node, it included."""
    form = linear_form(problem)
    delay = problem.network.delay_ms
    streams_per_operator = len(problem.application.streams) / problem.n_ops
    cost: FloatArray = form.unary.mean(axis=0) + form.path_factor * (delay + delay.T) / 2.0
    for term in form.pairs:
        matrix = term.table.matrix()
        cost = cost + streams_per_operator * float(term.weight.mean()) * (matrix + matrix.T) / 2.0
    return np.argsort(cost, axis=1, kind="stable")[:, :NEAREST]


def candidates(problem: Problem, used: IntArray, count: int) -> IntArray:
    """Return at most `count` nodes that are worth trying: those in use, and the best around them.

    Others are taken in turn from lists sorted by link penalty: the nodes nearest to all anchors together,
    those nearest to any of them, the best node of every site, and the best nodes of every set of allowed
    nodes. Anchors are the pinned nodes and some of those in use.

    Complexity: O(n_nodes x `ANCHORS` + n_nodes log n_nodes) in time, O(n_nodes x `ANCHORS`) in memory.
    Sorting two sums takes less time than building a spatial index would.

    Args:
        problem: The whole problem.
        used: Distinct nodes that must be among them.
        count: At least their number.

    Returns:
        Node indices, ascending.
    """
    anchors = _anchors(pinned_nodes(problem), used)
    penalty = LinkPenalty.of(problem).columns(anchors)
    total, nearest = penalty.sum(axis=1), penalty.min(axis=1)
    by_total, by_nearest = (np.argsort(each, kind="stable").tolist() for each in (total, nearest))
    lists = (by_total, by_nearest, _of_sites(problem, by_total), _of_sets(problem, total), by_nearest)
    # one long list of turns; a node counts at its first turn
    turns = dict.fromkeys(chain(used.tolist(), chain.from_iterable(zip_longest(*lists))))
    turns.pop(None, None)
    return np.sort(np.array(list(turns)[:count], dtype=np.int64))


def _anchors(pinned: IntArray, used: IntArray) -> IntArray:
    """Return at most `ANCHORS` nodes: pins first, then some of the used ones, evenly spread."""
    pins = _spread(pinned, ANCHORS // 2)
    others = _spread(np.setdiff1d(used, pins), ANCHORS - len(pins))
    return np.concatenate([pins, others])


def _spread(nodes: IntArray, count: int) -> IntArray:
    if len(nodes) <= count:
        return nodes
    return nodes[np.linspace(0, len(nodes) - 1, count).astype(np.int64)]


def _of_sites(problem: Problem, ranked: list[int]) -> list[int]:
    """Return the first node of every site in a ranking."""
    first: dict[str | None, int] = {}
    for u in ranked:
        first.setdefault(problem.network.nodes[u].site, u)
    first.pop(None, None)  # nodes whose site is not known
    return list(first.values())


def _of_sets(problem: Problem, total: FloatArray) -> list[int]:
    """Return the nodes of least penalty of every set of allowed nodes but the whole network."""
    chosen: list[int] = []
    for nodes in problem.node_sets.nodes[problem.node_sets.size < problem.n_nodes]:
        allowed = np.flatnonzero(nodes)
        chosen += allowed[np.argsort(total[allowed], kind="stable")[:OF_A_SET]].tolist()
    return chosen
