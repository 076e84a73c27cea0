"""Placements that a solver finds for the steps of a forecast: as if nothing ran, and from other placements.

From where operators are the price of moves counts, as a part of what a placement costs for as long as
conditions stay as they are: so placements come out that are good enough on both sides of a change.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.current import UNPLACED
from scheduler.moving.move_prices import spread_price

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem
    from scheduler.moving.step_worth import StepWorth

    Solve = Callable[[Problem], IntArray | None]
    """Finds a good placement of a problem, None if there is none; the same one for the same problem."""


class Suggestions:
    """Asks a solver; the same question only once.

    Args:
        worth: The steps.
        solve: The solver.
        deadline: When to ask no more, but for the optimum of each step.
    """

    def __init__(self, worth: StepWorth, solve: Solve, deadline: Deadline) -> None:
        self._problems = worth.problems
        self._solve = solve
        self._deadline = deadline
        self._known: dict[tuple[int, float, bytes], IntArray | None] = {}
        # stretches of steps that are alike: their problem, and their length in periods
        self._stretches = [
            (k, float(worth.periods[list(steps)].sum()))
            for k, steps in groupby(range(len(worth.of_step)), lambda step: int(worth.of_step[step]))
        ]
        nowhere = np.full(self._problems[0].n_ops, UNPLACED)
        self.optima: Sequence[IntArray | None] = [
            self._found(k, 1.0, nowhere) for k in range(len(self._problems))
        ]

    def around(self, start: IntArray) -> list[IntArray]:
        """Return what is found step by step from a placement, and from each optimum for the steps beside it.

        Args:
            start: (n_ops,) where operators run, with marks where they do not.
        """
        found = []
        at: IntArray | None = start
        for k, periods in self._stretches:
            at = self._later(k, periods, at)
            found.append(at)
        for one, other in zip(self._stretches, self._stretches[1:], strict=False):
            for (before, _), (k, periods) in ((one, other), (other, one)):
                found.append(self._later(k, periods, self.optima[before]))
        return [each for each in found if each is not None]

    def _later(self, k: int, periods: float, start: IntArray | None) -> IntArray | None:
        return None if start is None or self._deadline.expired() else self._found(k, periods, start)

    def _found(self, k: int, periods: float, start: IntArray) -> IntArray | None:
        key = k, periods, start.tobytes()
        if key not in self._known:
            problem = self._problems[k]
            weights = spread_price(problem.objective.weights, 1.0 / periods)
            objective = replace(problem.objective, weights=weights)
            self._known[key] = self._solve(replace(problem, objective=objective, current=start))
        return self._known[key]
