"""Beam search: some operators are placed anew, one by one, and the best partial placements are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.linear_form import linear_form
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Trials:
    """What is placed anew, by trial.

    Attributes:
        moving: (k, n_ops) operators that are.
        nodes: (k, n_nodes) nodes for them.
        prices: (k, n_nodes) what a node asks for besides, in units of F.
    """

    moving: BoolArray
    nodes: BoolArray
    prices: FloatArray

    def with_places(self, allowed: BoolArray) -> Trials:
        """Return those whose operators each have a node among the allowed ones (n_ops, n_nodes)."""
        which = (~self.moving | (self.nodes @ allowed.T)).all(axis=1)
        return Trials(self.moving[which], self.nodes[which], self.prices[which])


@dataclass(eq=False)
class _Partials:
    """Partial placements of several trials; nodes are positions among those of the search.

    Attributes:
        at: (k, w, n_ops) node of each operator, -1 where it has none yet.
        state: (k, w, n_ops + n_graphs + n + n_resources x n) what `_View` keeps of each beside, in one table,
            as rows of it are chosen at every step.
        value: (k, w) F of the operators placed, with what their graphs take at least; inf if it is none.
    """

    at: IntArray
    state: FloatArray
    value: FloatArray


class Beam:
    """Places operators of one problem anew; holds what does not depend on the placement.

    Operators of a graph come in topological order, so that a partial placement has the arrival at each; what
    follows takes at least the shortest way on, capacities left out. Several trials run side by side, as an
    array operation takes hardly longer for eight of them than for one.

    Args:
        problem: The problem.
        width: Partial placements that each trial keeps (>= 1).
    """

    def __init__(self, problem: Problem, width: int) -> None:
        application = problem.application
        self.problem, self.width = problem, width
        self.form = linear_form(problem)
        self.graph = application.graphs.member
        self.before: list[list[int]] = [[] for _ in range(problem.n_ops)]
        self.after: list[list[int]] = [[] for _ in range(problem.n_ops)]
        for source, target in application.critical_edges():
            self.before[target].append(source)
            self.after[source].append(target)
        in_order = application.order[np.argsort(self.graph[application.order], kind="stable")]
        graphs = np.split(in_order, np.flatnonzero(np.diff(self.graph[in_order])) + 1)
        self.graphs = [each.tolist() for each in graphs]
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

    def replanted(self, placement: IntArray, trials: Trials, graphs: IntArray) -> IntArray:
        """Return (m, n_ops) the best placement of each trial that finds room for its operators, m <= k.

        Allowed nodes and capacities hold; the problem's rules may not.

        Complexity: O((operators of these graphs + their streams) x (width + n) x n) per trial, where n nodes
        may be used by any of them.

        Args:
            placement: (n_ops,) where all operators are.
            trials: What is placed anew.
            graphs: (n_graphs,) the order in which graphs are placed.
        """
        trials = trials.with_places(self.problem.allowed)
        moves = np.logical_or.reduce(trials.moving, axis=0)
        touched = set(self.graph[moves].tolist())
        order = [graph for graph in graphs.tolist() if graph in touched]
        view = _View(self, placement, trials)
        view.look_ahead(order)
        live = view.start()
        for graph in order:
            for i in self.graphs[graph]:
                live = view.placed(live, i, graph) if moves[i] else view.passed(live, i, graph)
        every, best = np.arange(len(live.value)), live.value.argmin(axis=1)
        found = np.flatnonzero(live.value[every, best] < np.inf)
        placed: IntArray = view.among[live.at[found, best[found]]]
        return placed


class _View:
    """The problem on the nodes of some trials.

    Attributes:
        among: (n,) these nodes.
    """

    def __init__(self, beam: Beam, placement: IntArray, trials: Trials) -> None:
        problem, form, moving = beam.problem, beam.form, trials.moving
        is_among = np.zeros(problem.n_nodes, dtype=np.bool_)
        is_among[placement[(~moving).any(axis=0)]] = True
        self.among = among = np.flatnonzero(is_among | trials.nodes.any(axis=0))
        self._beam, self._moving = beam, moving
        self._execution = problem.execution_ms[:, among]
        self._delay = problem.network.delay_ms[np.ix_(among, among)]
        self._here = np.searchsorted(among, placement)
        self._staying = np.nonzero(~moving)  # trials and operators
        # (k, n_ops, n) what an operator adds where it may be; one that stays adds nothing where it is
        possible = moving[:, :, None] & (problem.allowed[:, among] & trials.nodes[:, None, among])
        self._own = np.where(possible, form.unary[:, among] + trials.prices[:, None, among], np.inf)
        self._own[*self._staying, self._here[self._staying[1]]] = 0.0
        self._demand = np.where(moving[:, :, None], problem.demand, 0.0)
        self._needed = np.where(moving[:, :, None], problem.demand - TOLERANCE, -np.inf)
        self._set_up = np.zeros(len(among)) if form.set_up is None else form.set_up[among]
        # columns of the state, behind ends of paths up to operators and longest paths of graphs
        n, begin = len(among), problem.n_ops + problem.application.graphs.count
        self._charge = slice(begin, begin + n)
        self._free = [
            slice(begin + n * (r + 1), begin + n * (r + 2)) for r in range(problem.capacity.shape[1])
        ]
        self._pairs = [(term.weight, term.table.block(among, among)) for term in form.pairs]
        self._ways = np.zeros(self._own.shape)

    def look_ahead(self, graphs: list[int]) -> None:
        """Find out what at least follows each operator of some graphs on each node, in ms."""
        delay = self._delay.T.copy()
        for graph in graphs:
            for i in reversed(self._beam.graphs[graph]):
                for j in self._beam.after[i]:
                    behind = np.where(self._own[:, j] < np.inf, self._execution[j] + self._ways[:, j], np.inf)
                    way = (delay + behind[:, :, None]).min(axis=1)
                    self._ways[:, i] = np.maximum(self._ways[:, i], way)

    def start(self) -> _Partials:
        """Return the only placement without the operators to be placed."""
        trials, (trial, operator) = len(self._moving), self._staying
        there = self._here[operator]
        state = np.zeros((trials, 1, self._charge.stop + len(self._free) * len(self.among)))
        state[:, 0, self._charge] = self._set_up
        state[trial, 0, self._charge.start + there] = 0.0
        for free, capacity, demand in zip(
            self._free, self._beam.problem.capacity.T, self._beam.problem.demand.T, strict=True
        ):
            state[:, 0, free] = capacity[self.among]
            np.subtract.at(state, (trial, np.zeros_like(trial), free.start + there), demand[operator])
        at = np.where(self._moving, -1, self._here)
        return _Partials(at[:, None], state, np.zeros((trials, 1)))

    def _paths(self, live: _Partials, i: int, graph: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (k, w, n) the longest path to an operator by its node, that of its graph, F with that."""
        reach: FloatArray | None = None
        for j in self._beam.before[i]:
            behind = live.state[:, :, j, None] + self._delay.take(live.at[:, :, j], axis=0)
            reach = behind if reach is None else np.maximum(reach, behind)
        own = self._execution[i]
        done = np.broadcast_to(own, (*live.value.shape, len(own))) if reach is None else reach + own
        before = live.state[:, :, self._beam.problem.n_ops + graph, None]
        longest = np.maximum(done + self._ways[:, i, None], before)
        return done, longest, live.value[:, :, None] + self._beam.form.path_factor * (longest - before)

    def passed(self, live: _Partials, i: int, graph: int) -> _Partials:
        """Return the placements after an operator that stays where it is, in all trials."""
        done, longest, value = self._paths(live, i, graph)
        node, end = self._here[i], self._beam.problem.n_ops + graph
        live.state[:, :, i], live.state[:, :, end] = done[:, :, node], longest[:, :, node]
        live.value = value[:, :, node]
        return live

    def placed(self, live: _Partials, i: int, graph: int) -> _Partials:
        """Return the best placements of each trial with one operator more."""
        done, longest, value = self._paths(live, i, graph)
        value += self._own[:, i, None]
        value += live.state[:, :, self._charge]
        for j, stream, incoming in self._beam.links[i] if self._pairs else ():
            there = live.at[:, :, j]
            for weight, table in self._pairs:
                if weight[stream]:
                    value += (
                        weight[stream] * (table if incoming else table.T)[there] * (there >= 0)[..., None]
                    )
        for r, free in enumerate(self._free):
            np.putmask(value, live.state[:, :, free] < self._needed[:, i, None, None, r], np.inf)
        trials, w, n = value.shape
        flat = value.reshape(trials, w * n)
        width = min(self._beam.width, w * n)
        kept = np.argpartition(flat, width - 1, axis=1)[:, :width]
        kept += np.arange(trials)[:, None] * (w * n)
        parent, node = np.divmod(kept, n)
        at = live.at.reshape(trials * w, -1).take(parent, axis=0)
        state = live.state.reshape(trials * w, -1).take(parent, axis=0)
        at[..., i] = node
        state[..., i] = done.take(kept)
        state[..., self._beam.problem.n_ops + graph] = longest.take(kept)
        # places in memory, as an index per axis takes several times as long
        cells = state.reshape(-1)
        first = node + np.arange(0, len(cells), state.shape[2]).reshape(node.shape)
        cells[first + self._charge.start] = 0.0
        for r, free in enumerate(self._free):
            cells[first + free.start] -= self._demand[:, i, r, None]
        return _Partials(at, state, value.take(kept))
