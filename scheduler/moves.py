"""The worth of neighbouring placements, all moves of a kind in a few vectorised steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.capacity import demanded, fits, remaining
from scheduler.evaluation import DELAY_STEP_MS, OBJECTIVE_STEP, evaluate_many, linear_metrics, mean_weights
from scheduler.response_time import Potentials, potentials, response_time_bounds

if TYPE_CHECKING:
    from scheduler.arrays import BoolArray, FloatArray, IntArray
    from scheduler.evaluation import Rank
    from scheduler.problem import Problem

BATCH = 256
"""Relocations evaluated in one step."""


@dataclass(frozen=True)
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
        if not np.isfinite(objective).any():
            return None
        steps = np.rint(objective / OBJECTIVE_STEP)
        equal = np.flatnonzero(steps == steps.min())
        return int(equal[np.rint(delay[equal] / DELAY_STEP_MS).argmin()])

    def rank(self, index: int) -> Rank:
        """Return the rank of the candidate with that flat index; its F is finite."""
        objective, delay = self.objective.flat[index], self.mean_delay_ms.flat[index]
        return round(objective / OBJECTIVE_STEP), round(delay / DELAY_STEP_MS)


def co_locations(problem: Problem, placement: IntArray) -> BoolArray:
    """Return (n_ops, n_nodes) which moves bring an operator to the node of one it has a stream with."""
    source, target = problem.application.stream_source, problem.application.stream_target
    joins = np.zeros((problem.n_ops, problem.n_nodes), dtype=np.bool_)
    joins[source, placement[target]] = True
    joins[target, placement[source]] = True
    return joins


class _Groups:
    """Streams grouped by the operator at one end, to reduce values per stream to values per operator."""

    def __init__(self, streams: IntArray, ends: IntArray, n_ops: int) -> None:
        order = np.argsort(ends[streams], kind="stable")
        self.streams = streams[order]
        self._operators, self._starts = np.unique(ends[self.streams], return_index=True)
        self._n_ops = n_ops

    def reduce(self, ufunc: np.ufunc, values: FloatArray) -> FloatArray:
        """Return (n_ops, k) reductions of values (len(streams), k); 0 for operators without streams."""
        result = np.zeros((self._n_ops, values.shape[1]))
        if self._starts.size:
            result[self._operators] = ufunc.reduceat(values, self._starts, axis=0)
        return result


class MoveEvaluator:
    """Evaluates the neighbours of placements of one problem; holds what does not depend on the placement.

    Memory: O((n_streams + n_ops) x (n_ops + n_nodes)).
    """

    def __init__(self, problem: Problem) -> None:
        application = problem.application
        source, target = application.stream_source, application.stream_target
        # a stream from an operator to itself never leaves its node, so it costs nothing anywhere
        between = np.flatnonzero(source != target)
        critical = np.flatnonzero(application.critical)
        self._problem = problem
        self._incoming = _Groups(between, target, problem.n_ops)
        self._outgoing = _Groups(between, source, problem.n_ops)
        self._critical_in = _Groups(critical, target, problem.n_ops)
        self._critical_out = _Groups(critical, source, problem.n_ops)
        self._traffic = application.rate * application.tuple_bytes / 1000.0
        self._weights = mean_weights(problem)
        position = np.empty(problem.n_ops, dtype=np.int64)
        position[application.order] = np.arange(problem.n_ops)
        self._sources = np.setdiff1d(np.arange(problem.n_ops), target[critical])
        self._sinks = np.setdiff1d(np.arange(problem.n_ops), source[critical])
        self._bypassed = np.concatenate(
            [
                (position[source[critical]][:, None] < position)
                & (position < position[target[critical]][:, None]),
                position < position[self._sources][:, None],
                position > position[self._sinks][:, None],
            ]
        )
        self._critical = critical

    def single_moves(self, placement: IntArray) -> MoveCosts:
        """Return the worth of moving each operator (row) to each node (column), (n_ops, n_nodes).

        The longest path after moving i to u is the larger of the longest path that avoids i and
        ``arrival + execution + departure`` of i on u; predecessors' arrivals and successors' departures do
        not depend on i because critical streams form no cycle.

        Complexity: O((n_ops + n_streams) x (n_nodes + n_ops)) in a constant number of numpy steps.
        """
        problem = self._problem
        paths = potentials(problem, placement)
        through = self._longest_through(placement, paths)
        response = np.maximum(through, self._longest_avoiding(placement, paths)[:, None])
        delay = problem.network.delay_ms
        now = linear_metrics(problem, placement[:, None])
        usage = now.usage_bytes + self._change(placement, self._traffic, delay)
        mean = now.mean_delay_ms + self._change(placement, self._weights, delay)
        node = -np.log(problem.network.availability)
        unavailability = now.unavailability + node[None, :] - node[placement][:, None]
        if problem.network.link_availability is not None:
            ones = np.ones(len(problem.application.streams))
            links = -np.log(problem.network.link_availability)
            unavailability = unavailability + self._change(placement, ones, links)
        objective = problem.scale.objective(response, unavailability, usage)
        return MoveCosts(np.where(self._feasible(placement), objective, np.inf), mean)

    def best_relocation(self, placement: IntArray, nodes: IntArray, limit: Rank) -> tuple[int, int] | None:
        """Return the best way (from, to) to move all of one node to another, if it ranks below `limit`.

        Candidates are bounded first: their linear metrics are exact, and R stays above the longest
        stretch of path that avoids the moved operators. They are then evaluated in the order of these bounds
        until no bound is lower than the best rank found.

        Complexity: O((n_nodes + n_ops + n_streams) x n_nodes) for the bounds and O(n_ops + n_streams) per
        candidate evaluated, in n_ops + n_streams numpy steps per batch of `BATCH` candidates.

        Args:
            placement: (n_ops,) node of each operator.
            nodes: (n_nodes,) the order of destinations; it decides between equals.
            limit: Only lower ranks count.
        """
        pairs = self._feasible_relocations(placement, nodes)
        steps, delay_steps = self._relocation_bounds(placement, pairs)
        best: tuple[int, int] | None = None
        order = np.lexsort((delay_steps, steps))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            if (steps[batch[0]], delay_steps[batch[0]]) >= limit:
                break
            origin, destination = pairs[batch].T
            moved = np.where(placement[:, None] == origin, destination, placement[:, None])
            costs = MoveCosts(*evaluate_many(self._problem, moved))
            found = costs.best()
            if found is not None and costs.rank(found) < limit:
                limit, best = costs.rank(found), (int(origin[found]), int(destination[found]))
        return best

    def _relocation_bounds(self, placement: IntArray, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds of F and exact mean delays of relocations, (n_pairs,) each, in whole steps."""
        problem, (origin, destination) = self._problem, pairs.T
        now = linear_metrics(problem, placement[:, None])
        delay = problem.network.delay_ms
        usage = now.usage_bytes + self._joint_change(placement, self._traffic, delay)[origin, destination]
        mean = now.mean_delay_ms + self._joint_change(placement, self._weights, delay)[origin, destination]
        node = -np.log(problem.network.availability)
        hosted = np.bincount(placement, minlength=problem.n_nodes)
        unavailability = now.unavailability + hosted[origin] * (node[destination] - node[origin])
        if problem.network.link_availability is not None:
            ones = np.ones(len(problem.application.streams))
            links = -np.log(problem.network.link_availability)
            unavailability = unavailability + self._joint_change(placement, ones, links)[origin, destination]
        active, column = np.unique(origin, return_inverse=True)
        response = response_time_bounds(problem, placement, active)[column]
        objective = problem.scale.objective(response, unavailability, usage)
        return np.rint(objective / OBJECTIVE_STEP), np.rint(mean / DELAY_STEP_MS)

    def _joint_change(self, placement: IntArray, weight: FloatArray, link: FloatArray) -> FloatArray:
        """Return (n_nodes, n_nodes) how a weighted sum changes when all operators of a row's node move.

        It is the sum of their single changes, less what those count for streams between operators that
        move together: each such stream is counted as leaving its node in both directions.
        """
        application, n_nodes = self._problem.application, self._problem.n_nodes
        joint = np.zeros((n_nodes, n_nodes))
        np.add.at(joint, placement, self._change(placement, weight, link))
        between = self._incoming.streams
        start = placement[application.stream_source[between]]
        inside = start == placement[application.stream_target[between]]
        kept = np.bincount(start[inside], weight[between][inside], n_nodes)
        return joint - kept[:, None] * (link + link.T)

    def _feasible_relocations(self, placement: IntArray, nodes: IntArray) -> IntArray:
        """Return (n_moves, 2) pairs (from, to): active nodes ascending, `to` in the order of `nodes`."""
        problem = self._problem
        load, free = demanded(problem, placement), remaining(problem, placement)
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for u in np.unique(placement):
            fitting = fits(load[u], free) & problem.allowed[placement == u].all(axis=0)
            fitting[u] = False
            destinations = nodes[fitting[nodes]]
            pairs.append(np.column_stack([np.full_like(destinations, u), destinations]))
        return np.concatenate(pairs)

    def _feasible(self, placement: IntArray) -> BoolArray:
        problem = self._problem
        free = remaining(problem, placement)
        feasible = problem.allowed & fits(problem.demand[:, None, :], free[None, :, :])
        feasible[np.arange(problem.n_ops), placement] = False
        return feasible

    def _change(self, placement: IntArray, weight: FloatArray, link: FloatArray) -> FloatArray:
        """Return (n_ops, n_nodes) how a weighted sum of link values over streams changes by each move."""
        application = self._problem.application
        into, out = self._incoming.streams, self._outgoing.streams
        incoming = link[placement[application.stream_source[into]]] * weight[into][:, None]
        outgoing = link.T[placement[application.stream_target[out]]] * weight[out][:, None]
        own = self._incoming.reduce(np.add, incoming) + self._outgoing.reduce(np.add, outgoing)
        change: FloatArray = own - np.take_along_axis(own, placement[:, None], axis=1)
        return change

    def _longest_through(self, placement: IntArray, paths: Potentials) -> FloatArray:
        problem = self._problem
        application, delay = problem.application, problem.network.delay_ms
        source = application.stream_source[self._critical_in.streams]
        target = application.stream_target[self._critical_out.streams]
        reach = (paths.arrival_ms + paths.execution_ms)[source][:, None] + delay[placement[source]]
        onward = delay.T[placement[target]] + (paths.execution_ms + paths.departure_ms)[target][:, None]
        arrival = self._critical_in.reduce(np.maximum, reach)
        departure = self._critical_out.reduce(np.maximum, onward)
        through: FloatArray = arrival + problem.execution_ms + departure
        return through

    def _longest_avoiding(self, placement: IntArray, paths: Potentials) -> FloatArray:
        """Return (n_ops,) the longest path without each operator, 0 if there is none.

        In topological order such a path either jumps over the operator's position by one stream, or lies
        on one side of it: it begins at a later source or ends at an earlier sink.
        """
        application = self._problem.application
        source = application.stream_source[self._critical]
        target = application.stream_target[self._critical]
        until = paths.arrival_ms + paths.execution_ms
        onward = paths.execution_ms + paths.departure_ms
        hop = self._problem.network.delay_ms[placement[source], placement[target]]
        lengths = np.concatenate(
            [until[source] + hop + onward[target], onward[self._sources], until[self._sinks]]
        )
        longest: FloatArray = np.where(self._bypassed, lengths[:, None], 0.0).max(axis=0)
        return longest
