"""Proofs that no placement exists, each naming the operators and the capacity in conflict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, grouped
from scheduler.model.capacity import TOLERANCE, fits, most_members
from scheduler.model.constraints.names import listed

if TYPE_CHECKING:
    from scheduler.model.node_sets import Kinds
    from scheduler.model.problem import Problem


def prove_infeasible(problem: Problem) -> str | None:
    """Return why no placement exists, or None if these checks cannot prove it.

    The checks are necessary conditions: every operator fits on one of its allowed nodes alone; for each
    resource the demands can flow into the capacities of the allowed nodes, fractions permitted; if all
    operators demand the same, their number fits the whole number of them that each node holds; and of no
    resource do more operators demand at least some amount than all nodes hold of such operators. With equal
    demands they are exact: None means that a placement exists.

    Complexity: O(n_kinds x n_nodes x n_resources), and the flows, whose vertices are classes.
    """
    kinds = problem.kinds
    usable = _usable(problem, kinds)
    alone = np.flatnonzero(~np.any(usable, axis=1)[kinds.member])
    return _alone(problem, int(alone[0])) if alone.size else _together(problem, kinds, usable)


def _usable(problem: Problem, kinds: Kinds) -> BoolArray:
    """Return (n_kinds, n_nodes) where an operator of each kind may and could run alone."""
    usable = problem.node_sets.nodes[kinds.node_set]
    for k, demand in enumerate(kinds.demand):
        usable[k] &= fits(demand, problem.capacity)
    return usable


def _alone(problem: Problem, i: int) -> str:
    operator, allowed = problem.application.operators[i], problem.allowed[i]
    if not allowed.any():
        return f"operator {operator.name} is allowed on no node"
    place = "any node" if allowed.all() else "any node allowed for it"
    largest = problem.capacity[allowed].max(axis=0)
    short = np.flatnonzero(problem.demand[i] > largest + TOLERANCE)
    if short.size == 0:
        return f"operator {operator.name} demands resources that {place} has only separately"
    resource = problem.resources[short[0]]
    return (
        f"operator {operator.name} demands {problem.demand[i, short[0]]:g} {resource}, more than {place} "
        f"has (at most {largest[short[0]]:g})"
    )


def _together(problem: Problem, kinds: Kinds, usable: BoolArray) -> str | None:
    """Look for a resource, or a number of equal operators, that exceeds what the allowed nodes offer."""
    vertices = _Vertices.of(kinds, usable)

    def of_confined(demand: FloatArray, nodes: BoolArray) -> FloatArray:
        """Leave out what is demanded by operators that may run on other nodes too."""
        elsewhere = np.any(usable & ~nodes, axis=1)[kinds.member]
        return np.where(elsewhere, 0.0, demand)

    for r, resource in enumerate(problem.resources):
        demand, capacity = problem.demand[:, r], problem.capacity[:, r]
        conflict = vertices.shortage(demand, capacity)
        if conflict is not None:
            return _sentence(problem, conflict, of_confined(demand, conflict), capacity, resource)
    if len(np.unique(kinds.demand, axis=0)) == 1:
        each = problem.demand[0]
        if each.any():
            count = np.minimum(most_members(each, problem.capacity), problem.n_ops)
            ones = np.ones(problem.n_ops)
            conflict = vertices.shortage(ones, count)
            if conflict is not None:
                what = "operators of this demand"
                return _sentence(problem, conflict, of_confined(ones, conflict), count, what)
    return _large_ones(problem)


def _large_ones(problem: Problem) -> str | None:
    """Look for a size of which there are more operators than all nodes together hold.

    However they are packed, a node holds no more operators of some size or larger than of that size.
    """
    for r, resource in enumerate(problem.resources):
        demand, capacity = problem.demand[:, r], problem.capacity[:, r]
        for size in np.unique(demand[demand > 0])[::-1]:
            large = (demand >= size) * 1.0
            count = np.minimum(np.floor((capacity + TOLERANCE) / size), problem.n_ops)
            if large.sum() > count.sum():
                every = np.ones(problem.n_nodes, dtype=np.bool_)
                return _sentence(problem, every, large, count, f"places for {size:g} {resource} or more")
    return None


@dataclass(frozen=True, eq=False)
class _Vertices:
    """The vertices of the flow: operators with the same usable nodes, nodes usable for the same operators.

    Attributes:
        joined: (n_operator_classes, n_node_classes) whether the operators may use the nodes.
        operator_class: (n_ops,).
        node_class: (n_nodes,).
    """

    joined: BoolArray
    operator_class: IntArray
    node_class: IntArray

    @staticmethod
    def of(kinds: Kinds, usable: BoolArray) -> _Vertices:
        """Return the vertices, given (n_kinds, n_nodes) usable nodes."""
        first, of_kind = _distinct(usable)
        nodes, node_class = _distinct(usable[first].T)
        return _Vertices(usable[first][:, nodes], of_kind[kinds.member], node_class)

    def shortage(self, demand: FloatArray, capacity: FloatArray) -> BoolArray | None:
        """Return (n_nodes,) nodes that some operators are confined to and overfill, by a minimum cut.

        Edmonds-Karp ends on float capacities too.
        """
        import networkx as nx  # noqa: PLC0415  # only a failed search pays for the import

        flow: nx.DiGraph[str | tuple[str, int]] = nx.DiGraph()
        flow.add_nodes_from(["from", "to"])
        for k, total in enumerate(np.bincount(self.operator_class, demand)):
            flow.add_edge("from", ("class", k), capacity=float(total))
            flow.add_edges_from((("class", k), ("node", int(u))) for u in np.flatnonzero(self.joined[k]))
        for u, has in enumerate(np.bincount(self.node_class, capacity)):
            flow.add_edge(("node", u), "to", capacity=float(has))
        value, (reached, _) = nx.minimum_cut(flow, "from", "to", flow_func=nx.algorithms.flow.edmonds_karp)
        if value >= demand.sum() - TOLERANCE * (1 + len(capacity)):
            return None
        short = [("node", u) in reached for u in range(self.joined.shape[1])]
        return np.array(short)[self.node_class]


def _distinct(rows: BoolArray) -> tuple[IntArray, IntArray]:
    """Return where each distinct row occurs first, and which of these each row equals."""
    return grouped(row.tobytes() for row in np.packbits(rows, axis=1))


def _sentence(problem: Problem, nodes: BoolArray, demand: FloatArray, capacity: FloatArray, what: str) -> str:
    """Return the sentence for operators that only fit on the given nodes and exceed them.

    Args:
        problem: The problem.
        nodes: (n_nodes,) the nodes in conflict.
        demand: (n_ops,) 0 for operators that may run on other nodes too.
        capacity: (n_nodes,).
        what: What is short.
    """
    confined = demand > 0
    operators = listed([problem.application.operators[i].name for i in np.flatnonzero(confined)])
    places = listed([problem.network.nodes[u].name for u in np.flatnonzero(nodes)])
    where = "all nodes together have" if nodes.all() else f"the only nodes for them, {places}, have"
    asked, has = float(demand[confined].sum()), float(capacity[nodes].sum())
    return f"operators {operators} demand {asked:g} {what}, {where} {has:g} ({asked - has:g} short)"
