"""First-fit placement over a list of nodes, with repair where first-fit alone gets stuck."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

import numpy as np

from scheduler.capacity import fits, remaining
from scheduler.feasibility import prove_infeasible
from scheduler.graph import breadth_first
from scheduler.strategy import Suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.arrays import FloatArray, IntArray
    from scheduler.problem import Problem


class NodeOrder(Protocol):
    """Returns the nodes in the order in which the next operator tries them."""

    def __call__(self, last: int | None, /) -> IntArray:
        """Return (n_nodes,) node indices; `last` is the node taken by the operator before, if any."""


def fixed_order(nodes: IntArray) -> NodeOrder:
    """Return the order that starts at the head of the same list for every operator."""
    return lambda _last: nodes


def place_in_order(problem: Problem, order: NodeOrder, sequence: Sequence[int]) -> Suggestion:
    """Place pinned operators, then the others in sequence, each on the first node where it fits.

    If an operator fits nowhere, everything is placed anew with the most restricted operators first,
    and one that then finds no node makes room by moving others along a shortest chain. With equal
    demands that finds a placement whenever one exists; otherwise it may fail although one exists, and the
    reason says that nothing is proved.

    Args:
        problem: The problem.
        order: Nodes to try.
        sequence: All operators, in the order of placing.
    """
    pinned = problem.allowed.sum(axis=1) == 1
    pins_first = sorted(sequence, key=lambda i: not pinned[i])
    placement, stuck = _fill(problem, order, pins_first, repair=False)
    if stuck is None:
        return Suggestion(placement, "first-fit placed every operator")
    share = (problem.demand / np.maximum(problem.capacity.mean(axis=0), 1e-12)).max(axis=1, initial=0.0)
    choices = problem.allowed.sum(axis=1)
    restricted_first = sorted(sequence, key=lambda i: (choices[i], -share[i]))
    placement, stuck = _fill(problem, order, restricted_first, repair=True)
    if stuck is None:
        return Suggestion(placement, "first-fit placed every operator, the most restricted ones first")
    proof = prove_infeasible(problem)
    if proof is not None:
        return Suggestion(None, proof, proved=True)
    operator = problem.application.operators[stuck].name
    return Suggestion(
        None, f"no room was found for operator {operator}, though it is not proved that none exists"
    )


def breadth_first_operators(problem: Problem) -> list[int]:
    """Return the operators breadth-first from the sources over critical streams, unconnected ones last."""
    return breadth_first(problem.n_ops, problem.application.critical_edges())


def _fill(
    problem: Problem, order: NodeOrder, sequence: Sequence[int], *, repair: bool
) -> tuple[IntArray, int | None]:
    """Return the placement and the operator that found no node, if any."""
    placement = np.full(problem.n_ops, -1, dtype=np.int64)
    free = problem.capacity.copy()
    last: int | None = None
    for i in sequence:
        nodes = order(last)
        open_nodes = (problem.allowed[i] & fits(problem.demand[i], free))[nodes]
        first = int(open_nodes.argmax())
        if open_nodes[first]:
            last = int(nodes[first])
            placement[i] = last
            free[last] -= problem.demand[i]
        elif repair and _make_room(problem, placement, i, nodes):
            last = int(placement[i])
            free = remaining(problem, placement)
        else:
            return placement, i
    return placement, None


def _make_room(problem: Problem, placement: IntArray, operator: int, nodes: IntArray) -> bool:
    """Place an operator by moving others along a shortest chain of displacements; in place.

    An augmenting path of a bipartite matching with capacities: each node occurs at most once in the chain.
    """
    free: FloatArray = remaining(problem, placement)
    asks_for: dict[int, tuple[int, int]] = {}  # displaced operator -> (operator that takes its place, node)
    queue = deque([operator])
    seen_nodes: set[int] = set()
    while queue:
        mover = queue.popleft()
        for u in (int(u) for u in nodes if problem.allowed[mover, u]):
            if u in seen_nodes:
                continue
            if fits(problem.demand[mover], free[u]):
                _displace(placement, asks_for, mover, u)
                return True
            displaced = [
                int(j)
                for j in np.flatnonzero(placement == u)
                if fits(problem.demand[mover], free[u] + problem.demand[j])
            ]
            if displaced:
                seen_nodes.add(u)
                asks_for.update((j, (mover, u)) for j in displaced)
                queue.extend(displaced)
    return False


def _displace(placement: IntArray, asks_for: dict[int, tuple[int, int]], mover: int, node: int) -> None:
    """Carry out a chain from its end back to the operator that had no node."""
    placement[mover] = node
    while mover in asks_for:
        mover, node = asks_for[mover]
        placement[mover] = node
