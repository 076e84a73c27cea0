"""Descent for thousands of operators: many of them move at once, each to the best of a few near nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.near_nodes import NearNodes
from scheduler.evaluation.critical_path import potentials
from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.incident import IncidentStreams
from scheduler.model.capacity import fits, remaining

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

    Move = tuple[int, int]
    """An operator and the node that it goes to."""

PARTNERS = 4
"""Operators whose nodes each operator tries: those at its heaviest streams."""
NEAR = 8
"""Nodes tried around those of the first two of them."""
WANTED = 2
"""Full nodes with whose operators an operator tries to trade places."""
SWEEPS = 20
"""Times that all operators are looked at, at most."""
HALVINGS = 5
"""Times that moves which do not help together are halved."""
CLOSE = 0.9
"""Paths longer than this share of R count as its causes."""
LEAST_GAIN = 1e-12
"""Gains of F below are rounding."""


def descend(problem: Problem, placement: IntArray, deadline: Deadline) -> IntArray:
    """Return a placement that is no worse, by moving operators and letting them trade places.

    Operators of one level of the graph share no critical stream, so their best moves are chosen together, on
    what the others do now; paths count as far as they come close to R. The moves are made if the full
    evaluation confirms a lower rank, otherwise the better half of them, and so on.

    Complexity: a sweep takes O((n_ops + n_streams) x (`PARTNERS` + 2 `NEAR`)) plus one evaluation per level;
    memory O(n_ops + n_streams + n_nodes).

    Args:
        problem: The problem.
        placement: (n_ops,) a feasible start.
        deadline: When to stop; work ends by itself after `SWEEPS`.
    """
    descent = _Descent(problem, placement)
    for _ in range(SWEEPS):
        before = descent.rank
        for operators in _levels(problem):
            if deadline.expired():
                return descent.placement
            descent.improve(operators)
        if descent.rank == before:
            break
    return descent.placement


def _levels(problem: Problem) -> Iterator[IntArray]:
    """Yield the movable operators of each level of the graph."""
    depth = problem.application.levels.depth
    movable = np.flatnonzero(problem.movable)
    order = movable[np.argsort(depth[movable], kind="stable")]
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


class _Descent:
    """A feasible placement that only ever improves."""

    def __init__(self, problem: Problem, placement: IntArray) -> None:
        self.placement = placement
        self.rank = evaluate(problem, placement).rank
        self._problem = problem
        self._streams = IncidentStreams(problem)
        self._partners = self._streams.partners(PARTNERS)
        self._surroundings = NearNodes(problem, NEAR)

    def improve(self, operators: IntArray) -> None:
        """Move operators that share no critical stream, as far as that lowers the rank."""
        moves = self._moves(operators)
        count = len(moves)
        for _ in range(HALVINGS):
            if not count:
                return
            changed = self.placement.copy()
            for operator, node in (move for step in moves[:count] for move in step):
                changed[operator] = node
            rank = evaluate(self._problem, changed).rank
            if rank < self.rank and self._problem.rules.met(changed[:, None])[0]:
                self.placement, self.rank = changed, rank
                return
            count //= 2

    def _moves(self, operators: IntArray) -> list[list[Move]]:
        """Return steps, the most promising first; allowed nodes and capacities hold after each of them.

        The problem's rules hold after each move alone, but perhaps not after several.
        """
        here = self.placement[operators]
        partner_nodes = self.placement[self._partners[operators]]
        near = self._surroundings.of(partner_nodes[:, :2])
        nodes = np.column_stack([here, partner_nodes, near.reshape(len(operators), -1)])
        price = self._prices(np.repeat(operators, nodes.shape[1]), nodes.ravel()).reshape(nodes.shape)
        price = np.where(self._problem.allowed[operators[:, None], nodes], price, np.inf)
        if self._problem.rules:
            mover = np.repeat(operators, nodes.shape[1])
            met = self._problem.rules.met_after(self.placement, mover, nodes.ravel())
            price = np.where(met.reshape(nodes.shape), price, np.inf)
        gain = price[:, 0] - price.min(axis=1)
        free = remaining(self._problem, self.placement)
        steps: list[list[Move]] = []
        wishes: list[tuple[float, int, int]] = []
        for k in np.argsort(-gain, kind="stable").tolist():
            if gain[k] <= LEAST_GAIN:
                break
            operator, ranked = int(operators[k]), np.argsort(price[k], kind="stable")
            better = nodes[k][ranked[price[k][ranked] < price[k][0] - LEAST_GAIN]]
            open_nodes = better[fits(self._problem.demand[operator], free[better])]
            if len(open_nodes):
                free[here[k]] += self._problem.demand[operator]
                free[open_nodes[0]] -= self._problem.demand[operator]
                steps.append([(operator, int(open_nodes[0]))])
            else:
                saved = {int(u): float(price[k][0] - price[k][c]) for c, u in enumerate(nodes[k].tolist())}
                wishes += [(saved[u], operator, u) for u in dict.fromkeys(better.tolist()[: 4 * WANTED])][
                    :WANTED
                ]
        return steps + self._trades(wishes, free, {step[0][0] for step in steps})

    def _trades(
        self, wishes: list[tuple[float, int, int]], free: FloatArray, moved: set[int]
    ) -> list[list[Move]]:
        """Return exchanges of two operators that gain, given what the first of them gains alone."""
        problem, placement = self._problem, self.placement
        by_node = np.argsort(placement, kind="stable")
        begins = np.searchsorted(placement[by_node], np.arange(problem.n_nodes + 1))
        pairs = [
            (saved, i, int(j))
            for saved, i, u in wishes
            for j in by_node[begins[u] : begins[u + 1]]
            if problem.allowed[j, placement[i]] and int(j) not in moved
        ]
        if not pairs:
            return []
        first, second = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (1, 2))
        now = self._prices(second, placement[second])
        gain = np.array([pair[0] for pair in pairs]) + now - self._prices(second, placement[first])
        steps: list[list[Move]] = []
        for k in np.argsort(-gain, kind="stable").tolist():
            if gain[k] <= LEAST_GAIN:
                break
            i, j = int(first[k]), int(second[k])
            u, v = int(placement[i]), int(placement[j])
            more = problem.demand[i] - problem.demand[j]
            if i in moved or j in moved or not (fits(more, free[v]) and fits(-more, free[u])):
                continue
            free[u] += more
            free[v] -= more
            moved.update((i, j))
            steps.append([(i, v), (j, u)])
        return steps

    def _prices(self, operators: IntArray, nodes: IntArray) -> FloatArray:
        """Return what operators would add to F on nodes; paths count as they come close to the longest."""
        paths = potentials(self._problem, self.placement)
        linear, through = self._streams.costs(self.placement, paths, operators, nodes)
        graphs = self._problem.application.graphs
        longest = graphs.longest(paths.arrival_ms + paths.execution_ms)[graphs.member[operators]]
        return linear + self._streams.by_path * np.maximum(through, CLOSE * longest)
