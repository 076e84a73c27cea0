"""Moving all operators of a node together to another node: the worth of all such moves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.evaluation.batch import BatchEvaluator
from scheduler.evaluation.critical_path import potentials_without
from scheduler.evaluation.evaluate import DELAY_STEP_MS, OBJECTIVE_STEP, Rank
from scheduler.evaluation.linear_form import PairTerm, linear_form, mean_delay_term
from scheduler.evaluation.moves import MoveCosts, MoveEvaluator, Standing
from scheduler.model.capacity import demanded, fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem

BATCH = 256
"""Relocations evaluated in one step at most."""
FEWEST = 8
"""Relocations evaluated in one step at least."""
BATCH_VALUES = 1 << 21
"""Values per operator and stream evaluated in one step; it bounds the memory of a step to about 50 MB."""


class RelocationEvaluator:
    """Finds the best relocation of a placement; holds what does not depend on the placement."""

    def __init__(self, problem: Problem, moves: MoveEvaluator) -> None:
        self._problem = problem
        self._moves = moves
        self._form = linear_form(problem)
        self._evaluate = BatchEvaluator(problem)
        rows = problem.n_ops + len(problem.application.streams)
        self._batch = min(BATCH, max(FEWEST, BATCH_VALUES // rows))
        # matrix products need it in memory
        self._unary = np.ascontiguousarray(self._form.unary)
        self._mean = mean_delay_term(problem)

    def best(
        self,
        placement: IntArray,
        nodes: IntArray,
        limit: Rank,
        *,
        permitted: Callable[[IntArray], bool] = lambda _placement: True,
        deadline: Deadline = NO_DEADLINE,
    ) -> tuple[int, int] | None:
        """Return the best way (from, to) to move all of one node to another, if it ranks below `limit`.

        Candidates are bounded first: their linear part is exact, and R stays above what the longest paths
        that meet at most one of the moved operators make it. They are then evaluated in the order of these
        bounds until no bound is lower than the best rank found.

        Complexity: with n_active nodes in use, O(n_active^2 x n_nodes) in matrix products and
        O((n_ops + n_streams) x n_nodes) for the bounds, O(n_ops + n_streams) per candidate evaluated, in
        batches of `BATCH` candidates.

        Args:
            placement: (n_ops,) node of each operator.
            nodes: (n_nodes,) the order of destinations; it decides between equals.
            limit: Only lower ranks count.
            permitted: Whether a placement may be the outcome.
            deadline: When to stop with the best found so far; never if not given. It is looked at while the
                bounds are computed too.
        """
        pairs = self._feasible(placement, nodes)
        if not len(pairs):
            return None
        steps, delay_steps = self._bounds(placement, pairs, deadline)
        best: tuple[int, int] | None = None
        order = np.lexsort((delay_steps, steps))
        for first in range(0, len(order), self._batch):
            batch = order[first : first + self._batch]
            if (steps[batch[0]], delay_steps[batch[0]]) >= limit:
                break
            if deadline.expired():
                break
            origin, destination = pairs[batch].T
            moved = np.where(placement[:, None] == origin, destination, placement[:, None])
            costs = MoveCosts(*self._evaluate(moved))
            if self._problem.rules:
                costs.objective[~self._problem.rules.met(moved)] = np.inf
            found = costs.best()
            while found is not None and costs.rank(found) < limit:
                if permitted(moved[:, found]):
                    limit, best = costs.rank(found), (int(origin[found]), int(destination[found]))
                    break
                costs.drop(found)
                found = costs.best()
        return best

    def _bounds(
        self, placement: IntArray, pairs: IntArray, deadline: Deadline
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds of F and exact mean delays of relocations, (n_pairs,) each, in whole steps."""
        form, (origin, destination) = self._form, pairs.T
        active, row = np.unique(origin, return_inverse=True)
        standing = self._moves.look(placement)
        moved = np.searchsorted(standing.used, active)
        hosts = (placement == active[:, None]).astype(np.float64)
        unary = hosts @ self._unary
        now = unary[np.arange(len(active)), active]
        objective = standing.linear + (unary[row, destination] - now[row])
        for term in form.pairs:
            objective += self._change(term, standing, moved)[row, destination]
        if form.set_up is not None:
            unused = np.ones(self._problem.n_nodes, dtype=np.bool_)
            unused[standing.used] = False
            objective += form.set_up[destination] * unused[destination] - form.set_up[origin]
        if form.response_factor and not deadline.expired():
            response = self._response_bounds(placement, active, deadline)
            objective += form.response_factor * response[row, destination]
        change = self._change(self._mean, standing, moved)[row, destination]
        mean = standing.mean_delay_ms + change
        return np.rint(objective / OBJECTIVE_STEP), np.rint(mean / DELAY_STEP_MS)

    def _response_bounds(self, placement: IntArray, active: IntArray, deadline: Deadline) -> FloatArray:
        """Return (n_active, n_nodes) what R is at least when an active node's operators move to a node."""
        application = self._problem.application
        graphs = application.graphs
        source, target = application.stream_source, application.stream_target
        without = potentials_without(self._problem, placement, active)
        # operators of nodes that cannot move as a whole have no column of their own and are left out below
        column = np.minimum(np.searchsorted(active, placement), len(active) - 1)
        moves = active[column] == placement
        until = without.arrival_ms + without.execution_ms
        onward = without.execution_ms + without.departure_ms
        standing = replace(
            self._moves.look(placement),
            head_ms=until[source, column[target]],
            tail_ms=onward[target, column[source]],
        )
        # (n_graphs, n_active, n_nodes)
        bounds = np.repeat(np.maximum(graphs.longest(until), 0.0)[:, :, None], self._problem.n_nodes, axis=2)
        for first, last in self._moves.blocks:
            if deadline.expired():
                break  # what was looked at bounds R from below too
            through = self._moves.longest_through(standing, first, last)
            moving = moves[first:last]
            cells = graphs.member[first:last][moving], column[first:last][moving]
            np.maximum.at(bounds, cells, through[moving])
        return graphs.mean(bounds)

    def _change(self, term: PairTerm, standing: Standing, moved: IntArray) -> FloatArray:
        """Return (n_active, n_nodes) how a sum over streams changes when all of an active node moves.

        Streams that stay within a node cost nothing before and after, so only traffic between nodes counts:
        that from v to the moved operators comes from v to their new node, and likewise back.

        Args:
            term: The sum.
            standing: The placement before.
            moved: (n_active,) positions of the active nodes among those in use.
        """
        application, spot, used = self._problem.application, standing.spot, standing.used
        start, end = spot[application.stream_source], spot[application.stream_target]
        across = start != end
        count = len(used)
        traffic = np.bincount(start[across] * count + end[across], term.weight[across], count * count)
        between = traffic.reshape(count, count)
        matrix = term.table.matrix()
        own = between[moved] @ matrix.T[used] + between.T[moved] @ matrix[used]
        return own - own[np.arange(len(moved)), used[moved]][:, None]

    def _feasible(self, placement: IntArray, nodes: IntArray) -> IntArray:
        """Return (n_moves, 2) pairs (from, to): active nodes ascending, `to` in the order of `nodes`."""
        problem = self._problem
        load = demanded(problem, placement)
        free = problem.capacity - load
        order = np.argsort(placement, kind="stable")
        active, begins = np.unique(placement[order], return_index=True)
        fitting = np.logical_and.reduceat(problem.allowed[order], begins, axis=0)
        fitting &= fits(load[active, None], free)
        fitting[np.arange(len(active)), active] = False
        row, column = np.nonzero(fitting[:, nodes])
        return np.column_stack([active[row], nodes[column]])
