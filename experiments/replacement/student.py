"""How far off a mean may be by chance when its spread is known from few readings: Student's t."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_LEAST_FREEDOM = 10
"""Degrees of freedom below which a spread is not known: noise need not be normal."""


@cache
def farthest(freedom: int, chance: float) -> float:
    """Return what Student's t exceeds, in either direction, with this chance.

    By the approximation of Gaver and Kafadar (The American Statistician, 1984).

    Args:
        freedom: Degrees of freedom; below ten the answer is infinite.
        chance: Between 0 and 1.
    """
    if freedom < _LEAST_FREEDOM:
        return math.inf
    normal = NormalDist().inv_cdf(1.0 - chance / 2.0)
    return math.sqrt(freedom * math.expm1(normal**2 * (freedom - 1.5) / (freedom - 1.0) ** 2))
