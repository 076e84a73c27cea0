"""How often a level was followed by another one."""

from __future__ import annotations

import numpy as np

from scheduler.base.arrays import FloatArray, frozen


def first_counts(levels: int) -> FloatArray:
    """(levels, levels) counts before anything was seen: one stay at each level.

    Without it a level that was never seen has no probabilities; the paper divides zero by zero there.
    """
    return frozen(np.eye(levels))


def counted(counts: FloatArray, before: int, after: int) -> FloatArray:
    """Return counts after a level was followed by another one."""
    more = counts.copy()
    more[before, after] += 1.0
    return frozen(more)


def probabilities(counts: FloatArray) -> FloatArray:
    """(..., levels, levels) P(x'|x) = n[x,x'] / sum_y n[x,y]."""
    shares: FloatArray = counts / counts.sum(axis=-1, keepdims=True)
    return shares
