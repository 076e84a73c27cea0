"""What placements are worth in the steps of a forecast, and what moves between them cost, in one unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.evaluation.batch import BatchConstraints, BatchEvaluator
from scheduler.evaluation.moves import MoveEvaluator
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.move_prices import MovePrices

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem
    from scheduler.moving.horizon import Horizon
    from scheduler.moving.steps import Forecast


class StepWorth:
    """Weighs placements; the unit is F over a period.

    Attributes:
        problems: The distinct problems of the steps.
        of_step: (n_steps,) position of each step's problem.
        periods: (n_steps,) length of each step in periods.
        prices: Of moves.

    Args:
        forecast: The steps.
        first: The problem of the first step, where operators run now included: what limits moves holds there.
        horizon: How steps and moves are weighed.
    """

    def __init__(self, forecast: Forecast, first: Problem, horizon: Horizon) -> None:
        self.problems = forecast.problems
        self.of_step = np.array(forecast.of_step)
        self.periods = np.array(forecast.seconds) / horizon.period_s
        factor = first.scale.factor(MIGRATION.name)
        self.prices = MovePrices.of(first).scaled(factor, horizon.move_price, horizon.change_price)
        self._evaluators = [BatchEvaluator(each) for each in forecast.problems]
        self._constraints = [(each, BatchConstraints(each)) for each in forecast.problems]
        self._rules = first.rules
        self._moves: dict[int, MoveEvaluator] = {}

    def of_problem(self, k: int, placements: IntArray) -> FloatArray:
        """Return (n_placements,) F of placements in the k-th problem; infinite where they break it.

        Args:
            k: Position of the problem.
            placements: (n_ops, n_placements).
        """
        objective, _ = self._evaluators[k](placements)
        problem, constraints = self._constraints[k]
        # batches take pinned operators as placed where they belong, which a pool does not promise
        met = constraints.met(placements) & problem.built_in[0].met(placements)
        return np.where(met, objective, np.inf)

    def of_single_moves(self, k: int, placement: IntArray) -> FloatArray:
        """Return (n_ops, n_nodes) the same after one operator has gone to a node; infinite if it is there.

        Many times as fast as `of_problem`. The placement, (n_ops,), has to meet the problem's constraints.
        """
        if k not in self._moves:
            self._moves[k] = MoveEvaluator(self.problems[k])
        return self._moves[k].single_moves(placement, NO_DEADLINE).objective

    def of_steps(self, placements: IntArray, first: int = 0, last: int | None = None) -> FloatArray:
        """Return (n_steps, n_placements) what steps from `first` to before `last` are worth in placements."""
        return self.by_steps(lambda k: self.of_problem(k, placements), placements, first, last)

    def by_steps(
        self,
        of_problem: Callable[[int], FloatArray],
        placements: IntArray,
        first: int = 0,
        last: int | None = None,
    ) -> FloatArray:
        """Return the same, with another way to know what placements are worth in a problem.

        Args:
            of_problem: Returns (n_placements,) F in the k-th problem.
            placements: (n_ops, n_placements).
            first: The first of the steps.
            last: The one after the last; None: to the end.
        """
        of_step = self.of_step[first:last].tolist()
        by_problem = {k: of_problem(k) for k in dict.fromkeys(of_step)}
        periods = self.periods[first:last].tolist()
        worth = np.array([by_problem[k] * length for k, length in zip(of_step, periods, strict=True)])
        # what limits moves limits those that are made now
        if first == 0 and self._rules:
            worth[0, ~self._rules.met(placements)] = np.inf
        return worth
