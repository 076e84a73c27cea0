"""Lagrange multipliers by subgradient steps, of the length that Polyak gives them.

B. T. Polyak, "Minimization of unsmooth functionals", USSR Computational Mathematics and Mathematical Physics
9(3), 1969: the step goes a share of the way that would close the gap if the bound rose linearly. Shortening
the share when the bound stops rising: M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient
optimization", Mathematical Programming 6, 1974.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray
    from scheduler.base.work import Work


class Point(Protocol):
    """Multipliers, with what they prove."""

    @property
    def bound(self) -> float:
        """Lower bound of what is minimised."""


P = TypeVar("P", bound=Point)


@dataclass(frozen=True)
class StepRule:
    """How steps become shorter.

    Attributes:
        patience: Steps without a higher bound after which they are shortened (>= 1).
        shortened: Factor of the length then, between 0 and 1.
        least: Share of the gap below which to stop.
        from_best: Whether the best point is gone back to then. Where a point is more than its multipliers,
            as costs have been moved on the way to it, there is no way back.
        least_gap: The gap counts as this much at least, so that the last steps are not lost in rounding.
    """

    patience: int
    shortened: float = 0.5
    least: float = 0.0
    from_best: bool = False
    least_gap: float = 0.0


def ascend(
    start: P,
    slopes: Callable[[P], tuple[FloatArray, ...]],
    step: Callable[[P, float, tuple[FloatArray, ...]], P],
    *,
    target: float,
    rule: StepRule,
    most: int,
    work: Work,
) -> P:
    """Return the point with the highest bound on the way.

    Args:
        start: Where to begin; its bound is known.
        slopes: Returns a subgradient of the bound at a point, in parts; all 0 at a maximum.
        step: Returns the point that so much of these slopes leads to.
        target: A value that the bound cannot exceed: that of a known solution.
        rule: How steps become shorter.
        most: Steps at most.
        work: When to stop; `step` counts its own.
    """
    best = now = start
    share, idle = 1.0, 0
    for _ in range(most):
        if best.bound >= target or share < rule.least or not math.isfinite(best.bound) or work.over():
            break
        slope = slopes(now)
        norm = sum(float((part**2).sum()) for part in slope)
        if norm == 0.0:
            break
        now = step(now, share * max(target - now.bound, rule.least_gap) / norm, slope)
        if now.bound > best.bound:
            best, idle = now, 0
            continue
        idle += 1
        if idle == rule.patience:
            share, idle = rule.shortened * share, 0
            now = best if rule.from_best else now
    return best
