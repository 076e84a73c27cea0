"""A pool of placements weighed over all steps: the best way through it, and what else could be done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scheduler.moving.horizon import best_sequence

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.moving.step_worth import StepWorth


class WeighedPool:
    """A pool with its worth in each step and the prices between its placements.

    Attributes:
        pool: (n_ops, k) distinct placements.
        possible: (n_steps,) whether a placement of the pool meets the constraints of each step.
        stays: Place of the running placement; None if it is not complete, or cannot stay in the first step.

    Args:
        worth: What placements are worth.
        start: (n_ops,) where operators run now, with marks where they do not.
        pool: The placements.
    """

    def __init__(self, worth: StepWorth, start: IntArray, pool: IntArray) -> None:
        every = worth.of_steps(pool)
        self.pool = pool
        self.possible = np.asarray(np.isfinite(every).any(axis=1))
        self._worth: FloatArray = every[self.possible]
        self._start = worth.prices.from_one(start, pool)
        self._prices = worth.prices.between(pool)
        stays = self.place(start)
        self.stays = stays if stays is not None and np.isfinite(every[0, stays]) else None

    def place(self, placement: IntArray) -> int | None:
        """Return the place of a placement in the pool; None if it is not there."""
        found = np.flatnonzero((self.pool == placement[:, None]).all(axis=0))
        return int(found[0]) if found.size else None

    def best(self) -> IntArray:
        """Return the place in the pool at each possible step of the best way through all of them."""
        return best_sequence(self._worth, self._prices, self._start)

    def beginning_with(self, first: int) -> IntArray:
        """Return the same of the best way that begins with a placement, by its place."""
        start = np.full(self._start.size, np.inf)
        start[first] = self._start[first]
        return best_sequence(self._worth, self._prices, start)

    def step_by_step(self) -> IntArray:
        """Return the same of the way that is best for each step alone, with the price of moves."""
        sequence, prices = [], self._start
        for worth in self._worth:
            sequence.append(int((worth + prices).argmin()))
            prices = self._prices[sequence[-1]]
        return np.array(sequence, dtype=np.int64)

    def total(self, sequence: IntArray) -> float:
        """Return what a way costs, moves included."""
        moves = self._prices[sequence[:-1], sequence[1:]].sum()
        worth = self._worth[np.arange(sequence.size), sequence].sum()
        return float(self._start[sequence[0]] + moves + worth)

    def staying(self) -> float:
        """Return what staying in the first step and then doing the best costs; infinite if it cannot."""
        return math.inf if self.stays is None else self.total(self.beginning_with(self.stays))

    def at_steps(self, sequence: IntArray) -> IntArray:
        """Return (n_steps,) the place at every step; one that is not possible is spent where the last was."""
        steps: IntArray = sequence[np.maximum(np.cumsum(self.possible) - 1, 0)]
        return steps
