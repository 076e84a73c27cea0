"""The pool of placements that a rolling horizon chooses from: it grows with no step, and is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.horizon import prices_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem
    from scheduler.moving.steps import Forecast

_MOST_NEIGHBOURS = 1 << 16
"""Placements one move away that are looked at; more are left out, the ways to the optima stay."""
_NEAREST = 4
"""Placements one move away that are kept of each problem."""
_STAGES = 32
"""Placements on the way to an optimum at which is looked for what to take over next."""


class StepWorth:
    """What placements are worth in the steps of a forecast.

    Attributes:
        problems: The distinct problems of the steps.

    Args:
        forecast: The steps.
        first: The problem of the first step, where operators run now included: what limits moves holds there.
    """

    def __init__(self, forecast: Forecast, first: Problem) -> None:
        self.problems = forecast.problems
        self._forecast = forecast
        self._evaluators = [BatchEvaluator(each) for each in forecast.problems]
        self._constraints = [(each, BatchConstraints(each)) for each in forecast.problems]
        self._first = BatchConstraints(first)

    def of_problem(self, k: int, placements: IntArray) -> FloatArray:
        """Return (n_placements,) F of placements in the k-th problem; infinite where they break it.

        Args:
            k: Position of the problem.
            placements: (n_ops, n_placements).
        """
        objective, _ = self._evaluators[k](placements)
        problem, constraints = self._constraints[k]
        # batches take pinned operators as placed where they belong, which the pool does not promise
        met = constraints.met(placements) & problem.built_in[0].met(placements)
        return np.where(met, objective, np.inf)

    def of_steps(self, placements: IntArray, period_s: float) -> FloatArray:
        """Return (n_steps, n_placements) F of a period times the length of each step in periods."""
        by_problem = [self.of_problem(k, placements) for k in range(len(self.problems))]
        worth = np.array(
            [
                by_problem[k] * (seconds / period_s)
                for k, seconds in zip(self._forecast.of_step, self._forecast.seconds, strict=True)
            ]
        )
        worth[0, ~self._first.met(placements)] = np.inf
        return worth


def pool_of(now: Problem, worth: StepWorth, optima: Sequence[IntArray | None], most: int) -> IntArray:
    """Return (n_ops, k <= most) placements, the running one first if all operators run.

    They are the optimum of each distinct problem; what lies on the way to each of these, from the running
    placement and from the optimum before, when operators go there one after the other; and the best that a
    single move makes.

    Complexity: O(n_ops) evaluations per placement on a way, and O(n_ops x n_nodes) per problem.

    Args:
        now: The problem with where operators run now.
        worth: What placements are worth in the steps.
        optima: A good placement of each distinct problem, wherever operators run; None where there is none.
        most: Placements (>= 2).
    """
    current = now.current if now.current is not None and (now.current >= 0).all() else None
    columns: list[IntArray] = [each for each in optima if each is not None]
    fixed = len(columns)
    starts = [] if current is None else [current]
    before: list[IntArray] = []
    for k, optimum in enumerate(optima):
        if optimum is None:
            continue
        for start in (*starts, *before):
            columns += _way(worth, k, start, optimum)
        before = [optimum]
    if current is not None:
        columns += _neighbours(now, worth, current)
        columns.insert(0, current)
        fixed += 1
    return _kept(now, worth, columns, fixed, most)


def _way(worth: StepWorth, k: int, start: IntArray, end: IntArray) -> Sequence[IntArray]:
    """Return placements between two others, by what it pays most in a problem to take over next."""
    found: list[IntArray] = []
    at = start
    at_once = -(-int((start != end).sum()) // _STAGES)
    while True:
        away = np.flatnonzero(at != end)
        if away.size <= at_once:
            return found
        options = np.repeat(at[:, None], away.size, axis=1)
        options[away, np.arange(away.size)] = end[away]
        order = np.argsort(worth.of_problem(k, options), kind="stable")
        taken = away[order[:at_once]]
        at = at.copy()
        at[taken] = end[taken]
        found.append(at)


def _neighbours(now: Problem, worth: StepWorth, current: IntArray) -> Sequence[IntArray]:
    operators, nodes = np.nonzero(now.allowed & (np.arange(now.n_nodes) != current[:, None]))
    if not operators.size or operators.size > _MOST_NEIGHBOURS:
        return []
    near = np.repeat(current[:, None], operators.size, axis=1)
    near[operators, np.arange(operators.size)] = nodes
    best = []
    for k in range(len(worth.problems)):
        best += np.argsort(worth.of_problem(k, near), kind="stable")[:_NEAREST].tolist()
    return [near[:, column] for column in dict.fromkeys(best)]


def _kept(now: Problem, worth: StepWorth, columns: Sequence[IntArray], fixed: int, most: int) -> IntArray:
    """Return the first few placements, then those of the rest that are near the best of some problem.

    What going there costs counts, so that of two that are as good the nearer one is kept.
    """
    keys = list(dict.fromkeys(tuple(each.tolist()) for each in columns))
    count = len({tuple(each.tolist()) for each in columns[:fixed]})
    pool = np.array(keys, dtype=np.int64).reshape(len(keys), now.n_ops).T
    if pool.shape[1] <= most:
        return pool
    far = np.full(pool.shape[1], np.inf)
    for k in range(len(worth.problems)):
        objective = worth.of_problem(k, pool)
        best = objective.min()
        if np.isfinite(best):
            far = np.minimum(far, objective - best)
    far += now.scale.factor(MIGRATION.name) * prices_from(now, pool)
    far[:count] = -np.inf
    return pool[:, np.sort(np.argsort(far, kind="stable")[:most])]
