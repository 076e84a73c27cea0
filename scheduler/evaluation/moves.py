"""The worth of neighbouring placements, all moves of a kind in a few vectorised steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.critical_path import Avoidance, potentials
from scheduler.evaluation.evaluate import DELAY_STEP_MS, OBJECTIVE_STEP, Rank, rank_of
from scheduler.evaluation.linear_form import LinearForm, PairTerm, linear_form, mean_delay_term, sum_form
from scheduler.model.capacity import fits, remaining
from scheduler.model.metrics.terms import DELAY
from scheduler.model.use import use_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem

BLOCK = 1 << 21
"""Values per stream and node that one step handles; it bounds the memory of a step to about 50 MB."""


@dataclass(eq=False)
class MoveCosts:
    """What candidate placements are worth; F is infinite where a move is not feasible or changes nothing.

    Attributes:
        objective: F after the move, any shape.
        mean_delay_ms: Rate-weighted mean delay after the move, same shape.
    """

    objective: FloatArray
    mean_delay_ms: FloatArray

    def best(self) -> int | None:
        """Return the flat index of the lowest rank (F, then mean delay), the first among equals."""
        objective, delay = self.objective.ravel(), self.mean_delay_ms.ravel()
        least = objective.min(initial=np.inf)
        if np.isinf(least):
            return None
        steps = np.rint(objective / OBJECTIVE_STEP)
        equal = np.flatnonzero(steps == np.rint(least / OBJECTIVE_STEP))
        return int(equal[np.rint(delay[equal] / DELAY_STEP_MS).argmin()])

    def rank(self, index: int) -> Rank:
        """Return the rank of the candidate with that flat index; its F is finite."""
        return rank_of(self.objective.flat[index], self.mean_delay_ms.flat[index])

    def drop(self, index: int) -> None:
        """Leave the candidate with that flat index out from now on."""
        self.objective.flat[index] = np.inf

    def best_first(self, placement: IntArray, nodes: IntArray) -> Iterator[tuple[IntArray, Rank]]:
        """Yield placements (n_ops,) after moves of one operator (row) to a node (column), with their ranks.

        Args:
            placement: Before.
            nodes: (n_nodes,) the list L: among equals the node nearest to the pinned ones comes first.
        """
        listed = MoveCosts(self.objective[:, nodes], self.mean_delay_ms[:, nodes])
        while (best := listed.best()) is not None:
            operator, column = divmod(best, len(nodes))
            moved = placement.copy()
            moved[operator] = nodes[column]
            yield moved, listed.rank(best)
            listed.drop(best)


def co_locations(problem: Problem, placement: IntArray) -> BoolArray:
    """Return (n_ops, n_nodes) which moves bring an operator to the node of one it has a stream with."""
    source, target = problem.application.stream_source, problem.application.stream_target
    joins = np.zeros((problem.n_ops, problem.n_nodes), dtype=np.bool_)
    joins[source, placement[target]] = True
    joins[target, placement[source]] = True
    return joins


class _Groups:
    """Streams grouped by the operator at one end."""

    def __init__(self, streams: IntArray, ends: IntArray, n_ops: int) -> None:
        self._streams = streams[np.argsort(ends[streams], kind="stable")]
        self.begins = np.searchsorted(ends[self._streams], np.arange(n_ops + 1))

    def of(self, first: int, last: int) -> IntArray:
        """Return the streams of the operators from `first` to before `last`."""
        return self._streams[self.begins[first] : self.begins[last]]

    def maximum(self, values: FloatArray, first: int, last: int) -> FloatArray:
        """Return (last - first, k) maxima of values (n_streams, k); 0 for operators without any."""
        begins = (self.begins[first : last + 1] - self.begins[first]).tolist()
        result = np.zeros((last - first, values.shape[1]))
        # plain reductions of long rows are many times faster than ufunc.reduceat along the first axis
        for row, (begin, end) in enumerate(pairwise(begins)):
            if begin < end:
                np.maximum.reduce(values[begin:end], axis=0, out=result[row], initial=0.0)
        return result


@dataclass(frozen=True, eq=False)
class Standing:
    """A placement with what its neighbours' worth is computed from.

    Attributes:
        placement: (n_ops,) node of each operator.
        head_ms: (n_streams,) longest path up to the end of the stream's source.
        tail_ms: (n_streams,) longest path from the begin of the stream's target on.
        avoiding_ms: (n_ops,) the longest path of its graph without each operator.
        linear: F without the response time part.
        beside: (n_ops,) F without the response time of each operator's graph.
        mean_delay_ms: Rate-weighted mean delay.
        free: (n_nodes, n_resources) capacity left over.
        used: (n_used,) the nodes in use, ascending.
        spot: (n_ops,) position of each operator's node among them.
        links: By the slot of a link table: its values from, and to, the nodes in use, each (n_used, n_nodes).
    """

    placement: IntArray
    head_ms: FloatArray
    tail_ms: FloatArray
    avoiding_ms: FloatArray
    linear: float
    beside: FloatArray
    mean_delay_ms: float
    free: FloatArray
    used: IntArray
    spot: IntArray
    links: Mapping[int, tuple[FloatArray, FloatArray]]


class MoveEvaluator:
    """Evaluates the neighbours of placements of one problem; holds what does not depend on them, and a look.

    Args:
        problem: The problem.
        sums: Names of additive metrics whose raw sums `sum_changes` is asked for.

    Attributes:
        blocks: Ranges of operators, (first, last) without the last, to be looked at in one step each.

    Memory: O(n_streams + n_ops x n_nodes + n_nodes^2), and `BLOCK` values while it works.
    """

    def __init__(self, problem: Problem, sums: Sequence[str] = ()) -> None:
        application = problem.application
        source, target = application.stream_source, application.stream_target
        # a stream from an operator to itself never leaves its node, so it costs nothing anywhere
        between = np.flatnonzero(source != target)
        critical = np.flatnonzero(application.critical)
        self._problem = problem
        self._form = linear_form(problem)
        self._mean = mean_delay_term(problem)
        self._sums = {metric: sum_form(problem, metric) for metric in sums}
        forms = (self._form, *self._sums.values())
        self._tables = {term.slot: term.table for form in forms for term in form.pairs}
        self._tables[DELAY] = problem.network.delays
        self._incoming = _Groups(between, target, problem.n_ops)
        self._outgoing = _Groups(between, source, problem.n_ops)
        self._critical_in = _Groups(critical, target, problem.n_ops)
        self._critical_out = _Groups(critical, source, problem.n_ops)
        self._avoidance = Avoidance(problem)
        self._latest: Standing | None = None
        self.blocks = self._cut(max(1, BLOCK // problem.n_nodes))

    def _cut(self, streams: int) -> list[tuple[int, int]]:
        """Return ranges of operators with about that many streams in or out, each at least one operator."""
        total = self._incoming.begins + self._outgoing.begins
        blocks, first = [], 0
        while first < self._problem.n_ops:
            last = int(np.searchsorted(total, total[first] + streams, side="right")) - 1
            last = min(max(last, first + 1), self._problem.n_ops)
            blocks.append((first, last))
            first = last
        return blocks

    def look(self, placement: IntArray) -> Standing:
        """Return what the moves from a placement are computed from.

        It is kept for the next look at the same placement: kinds of moves are tried in turn until one helps.

        Complexity: O((n_ops + n_streams) log n_ops + n_used x n_nodes), with n_used nodes in use.
        """
        if self._latest is None or not np.array_equal(self._latest.placement, placement):
            self._latest = self._standing(placement.copy())
        return self._latest

    def _standing(self, placement: IntArray) -> Standing:
        paths = potentials(self._problem, placement)
        application = self._problem.application
        start, end = placement[application.stream_source], placement[application.stream_target]
        used, spot = np.unique(placement, return_inverse=True)
        linear = self._form.value(self._problem, placement)
        graphs = application.graphs
        others = graphs.beside(graphs.longest(paths.arrival_ms + paths.execution_ms))
        return Standing(
            placement=placement,
            head_ms=(paths.arrival_ms + paths.execution_ms)[application.stream_source],
            tail_ms=(paths.execution_ms + paths.departure_ms)[application.stream_target],
            avoiding_ms=self._avoidance.longest(placement, paths),
            linear=linear,
            beside=linear + self._form.response_factor * others,
            mean_delay_ms=float(self._mean.weight @ self._mean.table.between(start, end)),
            free=remaining(self._problem, placement),
            used=used,
            spot=spot,
            links={
                slot: (table.matrix()[used], np.ascontiguousarray(table.matrix()[:, used].T))
                for slot, table in self._tables.items()
            },
        )

    def single_moves(self, placement: IntArray, deadline: Deadline) -> MoveCosts:
        """Return the worth of moving each operator (row) to each node (column), (n_ops, n_nodes).

        Operators for which no time is left, if there are several blocks of them, count as unable to move.

        Complexity: that of `look` and, for all operators, of `moves_of`, in a few numpy steps per
        `BLOCK` values.
        """
        standing = self.look(placement)
        objective = np.full((self._problem.n_ops, self._problem.n_nodes), np.inf)
        mean = np.zeros_like(objective)
        for first, last in self.blocks:
            if first and deadline.expired():
                break
            block = self.moves_of(standing, first, last)
            objective[first:last], mean[first:last] = block.objective, block.mean_delay_ms
        return MoveCosts(objective, mean)

    def moves_of(self, standing: Standing, first: int, last: int) -> MoveCosts:
        """Return the worth of moving the operators from `first` to before `last`, (last - first, n_nodes).

        The longest path of the graph of i after moving i to u is the larger of the longest path that avoids
        i and ``arrival + execution + departure`` of i on u; predecessors' arrivals and successors' departures
        do not depend on i because critical streams form no cycle. Other graphs take as long as before.

        Complexity: O((number of these operators + number of their streams) x n_nodes), and matrix products
        of O(number of these operators x n_used x n_nodes), with n_used nodes in use.
        """
        objective = standing.beside[first:last, None] + self._linear_change(standing, self._form, first, last)
        mean = standing.mean_delay_ms + self._change(standing, self._mean, first, last)
        if self._form.response_factor:
            through = self.longest_through(standing, first, last)
            response = np.maximum(through, standing.avoiding_ms[first:last, None])
            objective += self._form.path_factor * response
        return MoveCosts(np.where(self._feasible(standing, first, last), objective, np.inf), mean)

    def sum_changes(self, standing: Standing, metric: str, first: int, last: int) -> FloatArray:
        """Return (last - first, n_nodes) how the raw sum of one of `sums` changes by each move."""
        return self._linear_change(standing, self._sums[metric], first, last)

    def _linear_change(self, standing: Standing, form: LinearForm, first: int, last: int) -> FloatArray:
        """Return (last - first, n_nodes) how a form without response time changes by each move."""
        unary = form.unary[first:last]
        change: FloatArray = unary - np.take_along_axis(unary, standing.placement[first:last, None], axis=1)
        for term in form.pairs:
            change += self._change(standing, term, first, last)
        if form.set_up is not None:
            change += use_changes(form.set_up, standing.placement, first, last)
        return change

    def _change(self, standing: Standing, term: PairTerm, first: int, last: int) -> FloatArray:
        """Return (last - first, n_nodes) how a sum of link values over streams changes by each move."""
        application = self._problem.application
        into, out = self._incoming.of(first, last), self._outgoing.of(first, last)
        source, target = application.stream_source, application.stream_target
        away, back = standing.links[term.slot]
        shape = (last - first, len(away))

        def weights(streams: IntArray, own: IntArray, other: IntArray) -> FloatArray:
            """Return (last - first, n_used) the weight of the streams with each node in use."""
            cell = (own[streams] - first) * shape[1] + standing.spot[other[streams]]
            total = np.bincount(cell, term.weight[streams], shape[0] * shape[1])
            return total.astype(np.float64, copy=False).reshape(shape)

        own = weights(into, target, source) @ away + weights(out, source, target) @ back
        return own - np.take_along_axis(own, standing.placement[first:last, None], axis=1)

    def _feasible(self, standing: Standing, first: int, last: int) -> BoolArray:
        problem = self._problem
        feasible = problem.allowed[first:last] & fits(problem.demand[first:last, None, :], standing.free)
        feasible[np.arange(last - first), standing.placement[first:last]] = False
        if problem.rules:
            row, node = np.nonzero(feasible)
            feasible[row, node] = problem.rules.met_after(standing.placement, first + row, node)
        return feasible

    def longest_through(self, standing: Standing, first: int, last: int) -> FloatArray:
        """Return (last - first, n_nodes) the longest path through each operator on each node, in ms.

        Complexity: O((number of these operators + number of their streams) x n_nodes).
        """
        application = self._problem.application
        into, out = self._critical_in.of(first, last), self._critical_out.of(first, last)
        away, back = standing.links[DELAY]
        reach = away[standing.spot[application.stream_source[into]]]
        reach += standing.head_ms[into][:, None]
        onward = back[standing.spot[application.stream_target[out]]]
        onward += standing.tail_ms[out][:, None]
        arrival = self._critical_in.maximum(reach, first, last)
        departure = self._critical_out.maximum(onward, first, last)
        return arrival + self._problem.execution_ms[first:last] + departure
