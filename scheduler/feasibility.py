"""Proofs that no placement exists, each naming the operators and the capacity in conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.capacity import TOLERANCE, fits

if TYPE_CHECKING:
    from scheduler.arrays import BoolArray, FloatArray
    from scheduler.problem import Problem

NAMES_SHOWN = 5


def prove_infeasible(problem: Problem) -> str | None:
    """Return why no placement exists, or None if these checks cannot prove it.

    The checks are necessary conditions: every operator fits on one of its allowed nodes alone; for each
    resource the demands can flow into the capacities of the allowed nodes, fractions permitted; and, if all
    operators demand the same, their number fits the whole number of them that each node holds. The last
    one is exact: with equal demands, None means that a placement exists.
    """
    return _alone(problem) or _together(problem)


def _alone(problem: Problem) -> str | None:
    for i, operator in enumerate(problem.application.operators):
        if not problem.allowed[i].any():
            return f"operator {operator.name} is allowed on no node"
        if (problem.allowed[i] & fits(problem.demand[i], problem.capacity)).any():
            continue
        place = "any node" if problem.allowed[i].all() else "any node allowed for it"
        largest = problem.capacity[problem.allowed[i]].max(axis=0)
        short = np.flatnonzero(problem.demand[i] > largest + TOLERANCE)
        if short.size == 0:
            return f"operator {operator.name} demands resources that {place} has only separately"
        resource = problem.resources[short[0]]
        return (
            f"operator {operator.name} demands {problem.demand[i, short[0]]:g} {resource}, more than {place} "
            f"has (at most {largest[short[0]]:g})"
        )
    return None


def _together(problem: Problem) -> str | None:
    """Look for a resource, or a number of equal operators, that exceeds what the allowed nodes offer."""
    usable = problem.allowed & fits(problem.demand[:, None, :], problem.capacity[None, :, :])
    for r, resource in enumerate(problem.resources):
        conflict = _shortage(problem.demand[:, r], problem.capacity[:, r], usable)
        if conflict is not None:
            return _told(problem, conflict, problem.demand[:, r], problem.capacity[:, r], resource)
    if (problem.demand == problem.demand[0]).all():
        each = problem.demand[0]
        wanted = each > 0
        if wanted.any():
            ratio = (problem.capacity[:, wanted] + TOLERANCE) / each[wanted]
            count = np.minimum(np.floor(ratio.min(axis=1)), problem.n_ops)
            ones = np.ones(problem.n_ops)
            conflict = _shortage(ones, count, usable)
            if conflict is not None:
                return _told(problem, conflict, ones, count, "operators of this demand")
    return None


def _shortage(demand: FloatArray, capacity: FloatArray, usable: BoolArray) -> BoolArray | None:
    """Return (n_nodes,) nodes that some operators are confined to and overfill, by a minimum cut.

    Operators with the same usable nodes are one vertex. Edmonds-Karp ends on float capacities too.
    """
    import networkx as nx  # noqa: PLC0415  # only a failed search pays for the import

    classes, member = np.unique(usable, axis=0, return_inverse=True)
    flow: nx.DiGraph[str | tuple[str, int]] = nx.DiGraph()
    flow.add_nodes_from(["from", "to"])
    for k, nodes in enumerate(classes):
        total = float(demand[member == k].sum())
        flow.add_edge("from", ("class", k), capacity=total)
        flow.add_edges_from((("class", k), ("node", int(u))) for u in np.flatnonzero(nodes))
    for u, has in enumerate(capacity):
        flow.add_edge(("node", u), "to", capacity=float(has))
    value, (reached, _) = nx.minimum_cut(flow, "from", "to", flow_func=nx.algorithms.flow.edmonds_karp)
    if value >= demand.sum() - TOLERANCE * (1 + len(capacity)):
        return None
    return np.array([("node", u) in reached for u in range(len(capacity))])


def _told(problem: Problem, nodes: BoolArray, demand: FloatArray, capacity: FloatArray, what: str) -> str:
    """Return the sentence for operators that only fit on the given nodes and exceed them."""
    usable = problem.allowed & fits(problem.demand[:, None, :], problem.capacity[None, :, :])
    confined = ~(usable & ~nodes).any(axis=1) & (demand > 0)
    operators = _listed([problem.application.operators[i].name for i in np.flatnonzero(confined)])
    places = _listed([problem.network.nodes[u].name for u in np.flatnonzero(nodes)])
    where = "all nodes together have" if nodes.all() else f"the only nodes for them, {places}, have"
    asked, has = float(demand[confined].sum()), float(capacity[nodes].sum())
    return f"operators {operators} demand {asked:g} {what}, {where} {has:g} ({asked - has:g} short)"


def _listed(names: list[str]) -> str:
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"
