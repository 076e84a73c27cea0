"""Multipliers of the capacities that raise the lower bound (Lagrangian relaxation, by subgradients)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.subgradient import StepRule, ascend
from scheduler.exact.form.slots import cheapest_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.exact.branch.relaxed_form import RelaxedForm

PATIENCE = 8
LEAST_STEP = 1e-3
LEAST_GAP = 1e-6
"""Relative to max(1, |F|)."""


@dataclass(frozen=True, eq=False)
class _Point:
    multipliers: FloatArray
    bound: float


def raise_multipliers(
    relaxed: RelaxedForm, order: Sequence[int], target: float, iterations: int, work: Work
) -> float:
    """Charge over-full nodes until the bound stops rising, and leave the best multipliers in place.

    Each iteration sweeps all costs to the head of the order, reads off where the members would go if
    capacities were only paid for, and changes multipliers along what is over-full. Sweeps cannot be undone,
    so there is no way back to a better point on the way; steps are shortened late and kept up long.

    Args:
        relaxed: Changed in place.
        order: All classes; costs are swept from the end to the start.
        target: F of a placement, less what response time adds beside the sums.
        iterations: How many to do at most.
        work: When to stop.

    Returns:
        The bound at the multipliers left in place.
    """
    backwards = list(reversed(order))

    def swept() -> _Point:
        relaxed.sweep(backwards, work)
        return _Point(relaxed.multipliers, relaxed.bound())

    def slopes(_now: _Point) -> tuple[FloatArray, ...]:
        excess = _load(relaxed, order) - relaxed.form.capacity
        return (np.where((relaxed.multipliers > 0) | (excess > 0), excess, 0.0),)

    def step(now: _Point, length: float, slope: tuple[FloatArray, ...]) -> _Point:
        relaxed.charge(np.maximum(now.multipliers + length * slope[0], 0.0))
        point = swept()
        work.add(len(relaxed.pairs) * relaxed.unary.shape[1] ** 2)
        return point

    gap = LEAST_GAP * max(1.0, abs(target))
    rule = StepRule(PATIENCE, least=LEAST_STEP, least_gap=gap)
    best = ascend(swept(), slopes, step, target=target, rule=rule, most=iterations, work=work)
    relaxed.charge(best.multipliers)
    return swept().bound


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
