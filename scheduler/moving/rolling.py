"""The rolling horizon: where to be now, given what is announced and forecast (beyond paper 001).

The paper plans one step ahead, on what is read now: it goes to a node that is about to leave, pays for a
placement that is good for an hour as if it were good for a day, and the other way round. Here a pool of
placements is weighed over all steps of the horizon, with the price of each move between them, and the first
step is carried out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import number, positive_number, whole_number
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.model.current import moves_to
from scheduler.model.metrics.migration import MIGRATION
from scheduler.moving.horizon import best_sequence, prices_between, prices_from
from scheduler.moving.pool import StepWorth, pool_of
from scheduler.moving.steps import forecast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from scheduler.moving.steps import Forecast, Step

    Solve = Callable[[Problem], IntArray | None]
    """Finds a good placement of a problem, None if there is none; the same one for the same problem."""

_TURNS = 8
"""A plan is planned on until it stays where it is; one that never does is not carried out."""


@dataclass(frozen=True)
class Horizon:
    """How steps and moves are weighed.

    Attributes:
        period_s: Time over which F weighs as much as the price of moves does once, s (> 0): in paper 001 the
            cycle.
        least_gain: Of F (>= 0), on average over the first step; going now has to save more beside staying for
            that step, moves and all that follows included.
        move_price: Of F over a period (>= `OBJECTIVE_STEP`), what each operator that moves costs besides its
            price. The least lets of equals the one win that moves least.
        most: Placements in the pool (>= 2).
    """

    period_s: float
    least_gain: float = 0.0
    move_price: float = OBJECTIVE_STEP
    most: int = 64

    def __post_init__(self) -> None:
        positive_number("period_s", self.period_s)
        number("least_gain", self.least_gain)
        number("move_price", self.move_price, least=OBJECTIVE_STEP)
        whole_number("most", self.most, 2)


@dataclass(frozen=True, eq=False)
class RollingPlan:
    """What to do now, and what is expected of it; totals are of F over periods, prices of moves included.

    Attributes:
        placement: (n_ops,) where to be in the first step.
        ahead: (n_steps, n_ops) where to be in each step, as it looks now.
        total: Of these.
        staying: Of staying in the first step and doing the best from then on; infinite where operators
            cannot stay.
        one_step_ahead: Of planning each step on its own, with the price of moves.
        pool: Placements that were weighed.
        impossible: Steps that no placement of the pool meets; they decide nothing.
    """

    placement: IntArray
    ahead: IntArray
    total: float
    staying: float
    one_step_ahead: float
    pool: int
    impossible: tuple[int, ...]

    @property
    def saves(self) -> float:
        """What acting now saves against staying in the first step; infinite where operators cannot stay."""
        return self.staying - self.total


def look_ahead(problem: Problem, steps: Sequence[Step], solve: Solve, horizon: Horizon) -> RollingPlan | None:
    """Return the plan for the first step that is best over all steps; None if none meets its constraints.

    A plan on the outcome of a plan, with the same steps, moves nothing: the price of moves obeys the triangle
    inequality and the scale of F does not follow the current placement, so that what was worth moving to is
    worth staying at. As the pool follows the current placement, what was found is planned on until it stays.

    Complexity: one `solve` per distinct step; that of `pool_of`, and O(n_steps x k^2) for a pool of k, more
    than once where something moves.

    Args:
        problem: As it is now, with where operators run; its network has all nodes of all steps.
        steps: What is known of the time to come; the first one begins now.
        solve: Finds a good placement of a problem in which nothing runs.
        horizon: How steps and moves are weighed.

    Raises:
        ModelError: A step names what the problem has not.
    """
    outlook = forecast(problem, steps)
    first = outlook.problems[0]
    now = replace(first, current=problem.current, gone=problem.gone, left_price=problem.left_price)
    worth = StepWorth(outlook, now)
    optima = [solve(each) for each in outlook.problems]
    pools: list[IntArray] = []
    at = now
    for _ in range(_TURNS):
        pools.append(pool_of(at, worth, optima, horizon.most))
        weighed = _Weighed(at, outlook, worth, pools[-1], horizon)
        if not weighed.begins:
            return None
        chosen = weighed.choice()
        if at.current is not None and (chosen == at.current).all():
            break
        at = replace(now, current=chosen, gone={}, left_price=None)
    else:
        chosen = _staying(now, worth, chosen)
    every = np.unique(np.concatenate(pools, axis=1), axis=1)
    return _Weighed(now, outlook, worth, every, horizon).plan(chosen)


def _staying(now: Problem, worth: StepWorth, chosen: IntArray) -> IntArray:
    """Return where operators run, if they can stay there, else what was chosen last."""
    current = now.current
    if current is None or (current < 0).any():
        return chosen
    return current if np.isfinite(worth.of_problem(0, current[:, None])[0]) else chosen


class _Weighed:
    """A pool, what it is worth in each step, and what it costs to go from one placement to another."""

    def __init__(
        self, now: Problem, outlook: Forecast, worth: StepWorth, pool: IntArray, horizon: Horizon
    ) -> None:
        every = worth.of_steps(pool, horizon.period_s)
        possible = np.asarray(np.isfinite(every).any(axis=1))
        moves_by, operators = moves_to(now), np.arange(now.n_ops)[:, None]
        factor = now.scale.factor(MIGRATION.name)
        self._pool = pool
        self._possible = possible
        self._worth = every[possible]
        self._least = horizon.least_gain * outlook.seconds[0] / horizon.period_s
        self._start = factor * prices_from(now, pool) + horizon.move_price * moves_by[operators, pool].sum(
            axis=0
        )
        apart = sum((each[:, None] != each[None, :]).astype(np.float64) for each in pool)
        self._prices = factor * prices_between(now, pool) + horizon.move_price * apart
        self._stays = self._place(now.current)

    @property
    def begins(self) -> bool:
        """Whether a placement of the pool meets the constraints of the first step."""
        return bool(self._possible[0])

    def choice(self) -> IntArray:
        """Return where to be in the first step."""
        best = best_sequence(self._worth, self._prices, self._start)
        stays = self._stays
        if stays is not None and self._staying() - self._total(best) <= max(self._least, OBJECTIVE_STEP):
            return self._pool[:, stays]
        return self._pool[:, best[0]]

    def plan(self, placement: IntArray) -> RollingPlan:
        """Return the plan that goes to a placement of the pool first."""
        first = self._place(placement)
        assert first is not None  # noqa: S101  # it is of this pool
        ahead = self._after(first)
        steps = np.zeros(len(self._possible), dtype=np.int64)
        # a step that decides nothing is spent where the one before was
        steps[:] = ahead[np.maximum(np.cumsum(self._possible) - 1, 0)]
        return RollingPlan(
            placement=placement,
            ahead=self._pool[:, steps].T,
            total=self._total(ahead),
            staying=self._staying(),
            one_step_ahead=self._total(self._one_step_ahead()),
            pool=self._pool.shape[1],
            impossible=tuple(np.flatnonzero(~self._possible).tolist()),
        )

    def _place(self, placement: IntArray | None) -> int | None:
        if placement is None:
            return None
        found = np.flatnonzero((self._pool == placement[:, None]).all(axis=0))
        return int(found[0]) if found.size else None

    def _after(self, first: int) -> IntArray:
        """Return the best sequence that begins with a placement."""
        start = np.full(self._start.size, np.inf)
        start[first] = self._start[first]
        return best_sequence(self._worth, self._prices, start)

    def _staying(self) -> float:
        return math.inf if self._stays is None else self._total(self._after(self._stays))

    def _one_step_ahead(self) -> IntArray:
        sequence, prices = [], self._start
        for worth in self._worth:
            sequence.append(int((worth + prices).argmin()))
            prices = self._prices[sequence[-1]]
        return np.array(sequence, dtype=np.int64)

    def _total(self, sequence: IntArray) -> float:
        moves = self._prices[sequence[:-1], sequence[1:]].sum()
        worth = self._worth[np.arange(sequence.size), sequence].sum()
        return float(self._start[sequence[0]] + moves + worth)
