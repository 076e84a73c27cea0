"""Prices of slots that raise the lower bound (Lagrangian relaxation of the capacities, by subgradients)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.form.slots import cheapest_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.exact.branch.relaxed_form import RelaxedForm

FIRST_STEP = 1.0
"""Share of the distance to the best known value that the first steps go."""
LEAST_STEP = 1e-3
PATIENCE = 8
"""Rounds without a higher bound after which steps are halved."""


def raise_prices(relaxed: RelaxedForm, order: Sequence[int], target: float, rounds: int, work: Work) -> float:
    """Charge over-full nodes until the bound stops rising, and leave the best prices in place.

    Each round sweeps all costs to the head of the order, reads off where the members would go if capacities
    were only paid for, and changes prices along what is over-full.

    Args:
        relaxed: Changed in place.
        order: All classes; costs are swept from the end to the start.
        target: F of a placement, less what response time adds beside the sums.
        rounds: How many to do at most.
        work: When to stop.

    Returns:
        The bound at the prices left in place.
    """
    backwards = list(reversed(order))
    relaxed.sweep(backwards, work)
    best, best_prices = relaxed.bound(), relaxed.prices
    step, stale = FIRST_STEP, 0
    for _ in range(rounds):
        if step < LEAST_STEP or best >= target or work.over():
            break
        excess = _load(relaxed, order) - relaxed.form.capacity
        slope = np.where((relaxed.prices > 0) | (excess > 0), excess, 0.0)
        norm = float((slope**2).sum())
        if norm == 0.0:
            break
        distance = max(target - relaxed.bound(), 1e-6 * max(1.0, abs(target)))
        relaxed.charge(np.maximum(relaxed.prices + step * distance / norm * slope, 0.0))
        relaxed.sweep(backwards, work)
        work.add(len(relaxed.pairs) * relaxed.unary.shape[1] ** 2)
        bound = relaxed.bound()
        if bound > best:
            best, best_prices, stale = bound, relaxed.prices, 0
        else:
            stale += 1
            if stale == PATIENCE:
                step, stale = step / 2, 0
    relaxed.charge(best_prices)
    relaxed.sweep(backwards, work)
    return relaxed.bound()


def _load(relaxed: RelaxedForm, order: Sequence[int]) -> FloatArray:
    """Return (n_nodes, n_resources) what members ask for that each take what is cheapest, in order."""
    form = relaxed.form
    counts: dict[int, IntArray] = {}
    load = np.zeros(form.capacity.shape)
    for c in order:
        costs = relaxed.unary[c].copy()
        for e, other in relaxed.touching[c]:
            if other in counts:
                pairs = relaxed.pairs[e] if form.edges[e].target == c else relaxed.pairs[e].T
                costs += counts[other] @ pairs
        counts[c] = cheapest_counts(costs, relaxed.room[c], int(form.size[c]))
        load += counts[c][:, None] * form.demand[c]
    return load
