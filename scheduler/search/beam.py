"""Beam search: some operators are placed anew, one by one, and the best partial placements are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.linear_form import linear_form
from scheduler.model.capacity import TOLERANCE, remaining
from scheduler.model.current import UNPLACED

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem

MOST_WAYS = 4_000_000
"""Operators x nodes of which the shortest ways on are kept, over all sets of nodes; 8 bytes each."""


@dataclass(eq=False)
class _Partials:
    """Partial placements; nodes are positions among those of the search.

    Attributes:
        at: (k, n_ops) node of each operator, -1 where it has none yet.
        state: (k, n_ops + n_graphs + n + n_resources x n) what `_View` keeps of each beside, in one table, as
            rows of it are chosen at every step.
        value: (k,) F of the operators placed, with what their graphs take at least.
    """

    at: IntArray
    state: FloatArray
    value: FloatArray


class Beam:
    """Places operators of one problem anew; holds what does not depend on the placement.

    Operators of a graph come in topological order, so that a partial placement has the arrival at each; what
    follows takes at least the shortest way on, capacities left out.

    Args:
        problem: The problem.
        width: Partial placements that are kept (>= 1).
    """

    def __init__(self, problem: Problem, width: int) -> None:
        application = problem.application
        self.problem, self.width = problem, width
        self.form = linear_form(problem)
        self.graph = application.graphs.member
        self.before: list[list[int]] = [[] for _ in range(problem.n_ops)]
        self._after: list[list[int]] = [[] for _ in range(problem.n_ops)]
        for source, target in application.critical_edges():
            self.before[target].append(source)
            self._after[source].append(target)
        in_order = application.order[np.argsort(self.graph[application.order], kind="stable")]
        self.graphs = np.split(in_order, np.flatnonzero(np.diff(self.graph[in_order])) + 1)
        self._ways: dict[bytes, FloatArray] = {}
        self.links = [
            [
                (
                    int(application.incidence.partner[e]),
                    int(application.incidence.stream[e]),
                    bool(application.incidence.incoming[e]),
                )
                for e in range(application.incidence.begins[i], application.incidence.begins[i + 1])
            ]
            for i in range(problem.n_ops)
        ]

    def replanted(
        self,
        placement: IntArray,
        moving: BoolArray,
        nodes: IntArray,
        graphs: IntArray,
        prices: FloatArray,
    ) -> IntArray | None:
        """Return the best placement found with other nodes for some operators; None if they found no room.

        Allowed nodes and capacities hold; the problem's rules may not.

        Complexity: O((operators of these graphs + their streams) x width x number of nodes).

        Args:
            placement: (n_ops,) where all operators are.
            moving: (n_ops,) which are placed anew.
            nodes: Nodes for them.
            graphs: (n_graphs,) the order in which graphs are placed.
            prices: (n_nodes,) what a node asks for besides, in units of F.
        """
        fixed = np.where(moving, UNPLACED, placement)
        is_target, is_among = np.zeros((2, self.problem.n_nodes), dtype=np.bool_)
        is_target[nodes] = is_among[nodes] = True
        is_among[placement[~moving]] = True
        among = np.flatnonzero(is_among)
        view = _View(self, among, is_target[among], prices)
        live = view.start(fixed, moving)
        touched = set(self.graph[moving].tolist())
        for graph in graphs.tolist():
            for i in self.graphs[graph].tolist() if graph in touched else ():
                found = view.placed(live, i, graph) if moving[i] else view.passed(live, i, graph)
                if found is None:
                    return None
                live = found
        placed: IntArray = among[live.at[live.value.argmin()]]
        return placed

    def ways_on(self, nodes: IntArray) -> FloatArray:
        """Return (n_ops, n) what at least follows each operator on each of some nodes, in ms."""
        key = nodes.tobytes()
        if key not in self._ways:
            if (len(self._ways) + 1) * self.problem.n_ops * len(nodes) > MOST_WAYS:
                self._ways.clear()
            delay = self.problem.network.delay_ms[nodes[:, None], nodes]
            execution = self.problem.execution_ms[:, nodes]
            ways = np.zeros((self.problem.n_ops, len(nodes)))
            for i in self.problem.application.order[::-1].tolist():
                for j in self._after[i]:
                    ways[i] = np.maximum(ways[i], (delay + execution[j] + ways[j]).min(axis=1))
            self._ways[key] = ways
        return self._ways[key]


class _View:
    """The problem on the nodes of one search."""

    def __init__(self, beam: Beam, among: IntArray, targets: BoolArray, prices: FloatArray) -> None:
        problem, form = beam.problem, beam.form
        block = np.ix_(among, among)
        self._beam, self._among = beam, among
        self._execution = problem.execution_ms[:, among]
        self._delay = problem.network.delay_ms[block]
        self._ways = beam.ways_on(among)
        self._own = form.unary[:, among] + prices[among]
        self._own[~(problem.allowed[:, among] & targets)] = np.inf
        self._set_up = np.zeros(len(among)) if form.set_up is None else form.set_up[among]
        # columns of the state, behind ends of paths up to operators and longest paths of graphs
        n, begin = len(among), problem.n_ops + problem.application.graphs.count
        self._charge = slice(begin, begin + n)
        self._free = [
            slice(begin + n * (r + 1), begin + n * (r + 2)) for r in range(problem.capacity.shape[1])
        ]
        self._pairs = [(term.weight, term.table.block(among, among)) for term in form.pairs]

    def start(self, fixed: IntArray, moving: BoolArray) -> _Partials:
        """Return the only placement without the operators to be placed."""
        problem = self._beam.problem
        at = np.where(moving, -1, np.searchsorted(self._among, np.maximum(fixed, 0)))
        charge = self._set_up.copy()
        charge[at[~moving]] = 0.0
        free = remaining(problem, fixed)[self._among].T
        paths = np.zeros(problem.n_ops + problem.application.graphs.count)
        state = np.concatenate([paths, charge, free.ravel()])
        return _Partials(at[None], state[None], np.zeros(1))

    def _paths(self, live: _Partials, i: int, graph: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (k, n) the longest path to an operator by its node, that of its graph, and F with that."""
        reach: FloatArray | None = None
        for j in self._beam.before[i]:
            behind = live.state[:, j, None] + self._delay[live.at[:, j]]
            reach = behind if reach is None else np.maximum(reach, behind)
        own = self._execution[i] if reach is not None else np.tile(self._execution[i], (len(live.value), 1))
        done = own if reach is None else reach + own
        before = live.state[:, self._beam.problem.n_ops + graph, None]
        longest = np.maximum(done + self._ways[i], before)
        return done, longest, live.value[:, None] + self._beam.form.path_factor * (longest - before)

    def passed(self, live: _Partials, i: int, graph: int) -> _Partials:
        """Return the placements after an operator that stays where it is."""
        done, longest, value = self._paths(live, i, graph)
        node = live.at[0, i]
        live.state[:, i], live.state[:, self._beam.problem.n_ops + graph] = done[:, node], longest[:, node]
        live.value = value[:, node]
        return live

    def placed(self, live: _Partials, i: int, graph: int) -> _Partials | None:
        """Return the best placements with one operator more; None if there is no room for it."""
        done, longest, value = self._paths(live, i, graph)
        value += self._own[i]
        value += live.state[:, self._charge]
        for j, stream, incoming in self._beam.links[i] if self._pairs else ():
            there = live.at[:, j]
            for weight, table in self._pairs:
                if weight[stream]:
                    value += weight[stream] * (table if incoming else table.T)[there] * (there >= 0)[:, None]
        for demand, free in zip(self._beam.problem.demand[i].tolist(), self._free, strict=True):
            value[live.state[:, free] < demand - TOLERANCE] = np.inf
        flat = value.ravel()
        kept = np.arange(len(flat))
        if len(flat) > self._beam.width:
            kept = np.argpartition(flat, self._beam.width)[: self._beam.width]
        kept = kept[flat[kept] < np.inf]
        if not len(kept):
            return None
        parent, node = np.divmod(kept, value.shape[1])
        rows, n_ops = np.arange(len(kept)), self._beam.problem.n_ops
        more = _Partials(live.at[parent], live.state[parent], flat[kept])
        more.at[:, i] = node
        more.state[:, i] = done.ravel()[kept]
        more.state[:, n_ops + graph] = longest.ravel()[kept]
        more.state[rows, self._charge.start + node] = 0.0
        for demand, free in zip(self._beam.problem.demand[i].tolist(), self._free, strict=True):
            more.state[rows, free.start + node] -= demand
        return more
