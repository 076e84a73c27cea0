"""When tuples enter: a rate that goes up and down, and chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray

Form = Literal["sine", "square"]

PERIOD_S = 600.0
_SWING = 0.5
"""Part of the mean by which the rate goes up and down."""


def rate_at(at_s: float, mean: float, form: Form) -> float:
    """Return the rate, in tuples per second: between half and one and a half times the mean."""
    wave = math.sin(2.0 * math.pi * at_s / PERIOD_S)
    if form == "square":
        wave = 1.0 if wave >= 0 else -1.0
    return mean * (1.0 + _SWING * wave)


def arrivals(mean: float, form: Form, duration_s: float, random: np.random.Generator) -> FloatArray:
    """Return when tuples enter, ascending, s: a Poisson process of this rate, by thinning.

    Args:
        mean: Tuples per second.
        form: How the rate goes up and down.
        duration_s: Until when.
        random: Source of chance.
    """
    most = mean * (1.0 + _SWING)
    at_s = np.cumsum(random.exponential(1.0 / most, size=int(2 * most * duration_s) + 100))
    at_s = at_s[at_s < duration_s]
    kept = random.random(at_s.size) * most < [rate_at(each, mean, form) for each in at_s.tolist()]
    return np.asarray(at_s[kept])
