"""The rolling horizon: where to be now, given what is announced and forecast (beyond paper 001).

The paper plans one step ahead, on what is read now: it goes to a node that is about to leave, pays for a
placement that is good for an hour as if it were good for a day, and the other way round. Here a pool of
placements is weighed over all steps of the horizon, with the price of each move between them, and the first
step is carried out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.model.current import UNPLACED
from scheduler.moving.pool import pool_of
from scheduler.moving.refining import refined
from scheduler.moving.step_worth import StepWorth
from scheduler.moving.suggesting import Suggestions
from scheduler.moving.weighed_pool import WeighedPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from scheduler.moving.horizon import Horizon
    from scheduler.moving.steps import Forecast
    from scheduler.moving.suggesting import Solve

_TURNS = 8
"""A plan is planned on until it stays where it is; one that never does is not carried out."""


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
        settled: Whether planning on from the placement stays there; if not, nothing moves that can stay.
        weighed: The pool.
    """

    placement: IntArray
    ahead: IntArray
    total: float
    staying: float
    one_step_ahead: float
    pool: int
    impossible: tuple[int, ...]
    settled: bool
    weighed: WeighedPool = field(repr=False)

    @property
    def saves(self) -> float:
        """What acting now saves against staying in the first step; infinite where operators cannot stay."""
        return self.staying - self.total

    def saved_by(self, placement: IntArray) -> float | None:
        """Return what a placement of the pool saves as the first step; None if it is not in the pool."""
        place = self.weighed.place(placement)
        return (
            None if place is None else self.staying - self.weighed.total(self.weighed.beginning_with(place))
        )


def look_ahead(
    problem: Problem,
    outlook: Forecast,
    solve: Solve,
    horizon: Horizon,
    deadline: Deadline = NO_DEADLINE,
    *,
    also: Sequence[IntArray] = (),
) -> RollingPlan | None:
    """Return the plan for the first step that is best over all steps; None if none meets its constraints.

    A plan on the outcome of a plan, with the same steps, moves nothing: the price of moves obeys the triangle
    inequality and the scale of F does not follow the current placement, so that what was worth moving to is
    worth staying at. As the pool follows the current placement, what was found is planned on until it stays.

    Complexity: a few `solve` per change of steps; that of `pool_of` and of `refined`; O(n_steps x k^2) for a
    pool of k, more than once where something moves.

    Args:
        problem: As it is now, with where operators run.
        outlook: Its steps; the first one begins now.
        solve: Finds a good placement of a problem, with the price of moves where operators run in it.
        horizon: How steps and moves are weighed.
        deadline: When to look no further; a plan that has not been planned on until then is not carried out.
        also: (n_ops,) placements that are weighed besides.
    """
    first = outlook.problems[0]
    now = replace(first, current=problem.current, gone=problem.gone, left_price=problem.left_price)
    worth = StepWorth(outlook, now, horizon)
    suggestions = Suggestions(worth, solve, deadline)
    start = np.full(problem.n_ops, UNPLACED) if problem.current is None else problem.current
    pools: list[IntArray] = []
    at, settled = start, False
    for _ in range(_TURNS):
        weighed = WeighedPool(worth, at, pool_of(at, worth, suggestions, horizon.most, deadline, also=also))
        if not weighed.possible[0]:
            return None
        weighed = refined(weighed, worth, at, horizon.most, deadline)
        pools.append(weighed.pool)
        chosen = _choice(weighed, horizon.least_gain * float(worth.periods[0]))
        settled = bool((chosen == at).all())
        if settled or deadline.expired():
            break
        at = chosen
    whole = WeighedPool(worth, start, np.unique(np.concatenate(pools, axis=1), axis=1))
    if not settled:
        at = chosen if whole.stays is None else start
    return _plan(whole, at, settled=settled)


def _choice(weighed: WeighedPool, least: float) -> IntArray:
    """Return where to be in the first step: another placement only where that saves enough."""
    best = weighed.best()
    saves = weighed.staying() - weighed.total(best)
    if weighed.stays is not None and saves <= max(least, OBJECTIVE_STEP):
        return weighed.pool[:, weighed.stays]
    return weighed.pool[:, best[0]]


def _plan(weighed: WeighedPool, placement: IntArray, *, settled: bool) -> RollingPlan:
    place = weighed.place(placement)
    assert place is not None  # noqa: S101  # it is of this pool
    ahead = weighed.beginning_with(place)
    return RollingPlan(
        placement=placement,
        ahead=weighed.pool[:, weighed.at_steps(ahead)].T,
        total=weighed.total(ahead),
        staying=weighed.staying(),
        one_step_ahead=weighed.total(weighed.step_by_step()),
        pool=weighed.pool.shape[1],
        impossible=tuple(np.flatnonzero(~weighed.possible).tolist()),
        settled=settled,
        weighed=weighed,
    )
