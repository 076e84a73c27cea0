"""Rolling horizon: which placement of a pool to be in at each step, when moving between them has its price.

Conditions of the steps to come (rates, hosts that are announced to leave or to join) are known or forecast.
Only the first step is carried out; the next one plans anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.checks import ModelError, number, positive_number, whole_number
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.moving.move_prices import MovePrices

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.problem import Problem


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
        change_price: Of F over a period (>= 0), what it costs to move anything at all, however much.
        most: Placements in the pool to begin with (>= 2); as many may be added where they pay.
    """

    period_s: float
    least_gain: float = 0.0
    move_price: float = OBJECTIVE_STEP
    change_price: float = 0.0
    most: int = 64

    def __post_init__(self) -> None:
        positive_number("period_s", self.period_s)
        number("least_gain", self.least_gain)
        number("move_price", self.move_price, least=OBJECTIVE_STEP)
        number("change_price", self.change_price)
        whole_number("most", self.most, 2)


def prices_between(problem: Problem, placements: IntArray) -> FloatArray:
    """Return (k, k) the price of going from each placement to each other one, in cost units.

    Args:
        problem: Its current placement is not looked at.
        placements: (n_ops, k).
    """
    return MovePrices.of(problem).between(placements)


def best_sequence(worth: FloatArray, prices: FloatArray, start: FloatArray | None = None) -> IntArray:
    """Return (n_steps,) the place in the pool at each step for which worth and prices add up to the least.

    Of equals the one that stays counts, then the first of the pool.

    Complexity: O(n_steps x k^2).

    Args:
        worth: (n_steps, k) what it costs to be in each placement during each step; infinite where it cannot.
        prices: (k, k) of going from one to another, 0 on the diagonal, in the same unit.
        start: (k,) price of coming to each in the first step; None: 0.

    Raises:
        ModelError: A step leaves no placement of the pool.
    """
    n_steps, count = worth.shape
    if not np.isfinite(worth).any(axis=1).all():
        step = int(np.flatnonzero(~np.isfinite(worth).any(axis=1))[0])
        raise ModelError(f"worth[{step}]", "no placement of the pool can be had in this step")
    total = worth[0] + (np.zeros(count) if start is None else start)
    came_from = np.zeros((n_steps, count), dtype=np.int64)
    every = np.arange(count)
    for step in range(1, n_steps):
        ways = total[:, None] + prices
        best = ways.argmin(axis=0)
        stays = ways[every, every] <= ways[best, every]
        came_from[step] = np.where(stays, every, best)
        total = ways[came_from[step], every] + worth[step]
    chosen = np.zeros(n_steps, dtype=np.int64)
    chosen[-1] = int(total.argmin())
    for step in range(n_steps - 1, 0, -1):
        chosen[step - 1] = came_from[step, chosen[step]]
    return chosen
