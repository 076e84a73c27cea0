"""For how long items stand still when workers start anew, learned from pauses that were measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray

FIRST_WORKERS: Final = 2
FIRST_S: Final = 3.0
"""What is expected before anything was measured: workers start, find each other, and others stop. On labs of
which two hosts were used, with a free slot on each, that took two to four and a half seconds."""
_FIXED = 2.0
"""What does not grow with the workers that start, as noticing the change and connecting, takes as long as so
many of them on those labs."""
_POWER = 1.4
"""How pauses grow with workers: on those labs, whose hosts share two processors, by powers of 1.0 to 1.7, the
latter where these are slow, and less where workers start at once."""
_DEVIATIONS: Final = np.array([0.7, 0.5])
"""Of the logarithm of the guess, that is a factor of two, and of the power."""
_NOISE = 0.15
"""Of the logarithms of pauses of as many workers."""
_FREEDOM = 4.0
"""Degrees of freedom of that noise: some pauses are of another kind, and say little."""
_ROUNDS = 20
"""After which weights of pauses hardly change."""
_BEYOND = 3.0
"""No more than so many times the longest pause that was measured is expected, or the like of the shortest."""


def expected_pause_s(measured: Sequence[tuple[int, float]], workers: int) -> float:
    """Return for how long items are expected to stand still, s.

    A pause of w workers is taken for c (w + 2)^b. For the logarithm of c and for b there is a guess, pauses
    differ from that by Student's t, and the most likely c and b are taken (the mode of the posterior, by
    weighted least squares, of which the weights follow from what is left). So one pause of another kind
    changes little, and pauses of nearly as many workers say little about b.

    Args:
        measured: Workers that started (>= 1), and for how long items stood still, s (> 0).
        workers: That start (>= 1).
    """
    sizes = np.array([_size(each) for each, _ in measured])
    lasted = np.log([seconds for _, seconds in measured])
    level, power = _most_likely(sizes, lasted)
    if power < 0.0:
        level, power = _most_likely(np.zeros_like(sizes), lasted)[0], 0.0
    seen = [seconds for _, seconds in measured] or [FIRST_S]
    expected = math.exp(level + power * _size(workers))
    return min(max(expected, min(seen) / _BEYOND), _BEYOND * max(seen))


def _size(workers: int) -> float:
    return math.log((workers + _FIXED) / (FIRST_WORKERS + _FIXED))


def _most_likely(sizes: FloatArray, lasted: FloatArray) -> tuple[float, float]:
    """Return level and power of logarithms of pauses, (n,), over those of workers, (n,)."""
    guess, certainty = np.array([math.log(FIRST_S), _POWER]), np.diag(_DEVIATIONS**-2.0)
    terms = np.column_stack([np.ones_like(sizes), sizes])
    weights = np.ones_like(sizes)
    found = guess
    for _ in range(_ROUNDS):
        weighted = terms.T * weights / _NOISE**2
        found = np.linalg.solve(certainty + weighted @ terms, certainty @ guess + weighted @ lasted)
        left = (lasted - terms @ found) / _NOISE
        weights = (_FREEDOM + 1.0) / (_FREEDOM + left**2)
    return float(found[0]), float(found[1])
