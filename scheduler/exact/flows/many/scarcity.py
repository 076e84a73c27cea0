"""What of that which graphs share is scarce: prices, found by asking a few graphs at a time.

Each step moves the prices along what all graphs ask for beyond what there is; then a part of the graphs is
asked again (surrogate Lagrangian relaxation: M. A. Bragin et al., "Convergence of the surrogate Lagrangian
relaxation method", JOTA 164, 2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.many.alike import Alike
    from scheduler.exact.flows.many.pricing import Pricing

ROUNDS, PARTS = 24, 8
"""How often all graphs are asked, and in how many parts."""
CHOSEN_ANEW = (1, 2, 4, 8)
"""Rounds before which places are chosen again."""
OVER = 0.01
"""How far the first step reaches above the bound without prices, relative."""
SLOWER = (10.0, 0.1)
"""M and r of the paper: the greater, the slower steps become shorter."""


class Asked:
    """What graphs ask for.

    Attributes:
        total: (n_rows,) of all graphs.

    Args:
        pricing: The graphs.
        chosen: With places.
    """

    def __init__(self, pricing: Pricing, chosen: list[Alike]) -> None:
        self._n_rows = pricing.stock.n_rows
        self._rows = [np.full(each.amounts.shape, self._n_rows) for each in chosen]
        self.total: FloatArray = np.zeros(self._n_rows)
        self.worth = [np.zeros(len(each.nodes)) for each in chosen]

    def ask(self, chosen: list[Alike], members: list[IntArray], prices: FloatArray) -> None:
        """Ask some graphs again, by positions in each of `chosen`, at prices (n_rows + 1,)."""
        for k, (alike, some) in enumerate(zip(chosen, members, strict=True)):
            if not len(some):
                continue
            self._add(self._rows[k][some], -alike.amounts[some])
            self.worth[k][some], choices = alike.cheapest(some, prices)
            self._rows[k][some] = alike.rows(some, choices)
            self._add(self._rows[k][some], alike.amounts[some])

    def _add(self, rows: IntArray, amounts: FloatArray) -> None:
        self.total += np.bincount(rows.ravel(), amounts.ravel(), self._n_rows + 1)[:-1]


def scarcity(pricing: Pricing, random: np.random.Generator, deadline: Deadline) -> FloatArray:
    """Return (n_rows,) prices of whole rows at which graphs ask for about as much as there is.

    Args:
        pricing: The graphs.
        random: Which graphs are asked together.
        deadline: When to stop.

    Raises:
        OutOfTimeError: The deadline has come before any graph was asked.
    """
    shares: FloatArray = np.zeros(pricing.stock.n_rows)
    chosen = pricing.chosen(pricing.tariff(shares), deadline)
    asked = Asked(pricing, chosen)
    asked.ask(chosen, [np.arange(len(each.nodes)) for each in chosen], pricing.prices(shares))
    worth = sum(float(each.sum()) for each in asked.worth)
    if not np.isfinite(worth):  # a graph has no placement even by itself
        return shares
    length, steps = 0.0, 0
    for turn in range(ROUNDS):
        if turn in CHOSEN_ANEW:
            chosen = pricing.chosen(pricing.tariff(shares), deadline)
        orders = [np.array_split(random.permutation(len(each.nodes)), PARTS) for each in chosen]
        for part in range(PARTS):
            if deadline.expired():
                return shares
            slope = _slope(pricing, asked.total, shares)
            norm = float(np.sqrt(slope @ slope))
            if norm <= 0:
                return shares
            if steps == 0:
                length = OVER * worth / norm
            steps += 1
            shares = np.maximum(shares + length / norm * slope, 0.0)
            most, power = SLOWER
            length *= 1.0 - 1.0 / (most * steps ** (1.0 - steps**-power))
            asked.ask(chosen, [each[part] for each in orders], pricing.prices(shares))
    return shares


def _slope(pricing: Pricing, total: FloatArray, shares: FloatArray) -> FloatArray:
    """Return (n_rows,) what is asked for beyond what there is, in parts of the whole rows."""
    over = np.where(pricing.limited, (total - pricing.stock.whole) / pricing.scale, 0.0)
    # a price of 0 cannot fall
    slope: FloatArray = np.where((shares <= 0) & (over < 0), 0.0, over)
    return slope
