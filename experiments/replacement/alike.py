"""Series of noisy readings count as alike, and as unchanged, but for what chance does not explain.

What is known of their spread is in the readings themselves, so that both tests are Student's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.replacement.student import farthest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray

FALSE_CHANGE = 0.001
"""Chance that a series counts as changed in a cycle although it did not: then its history is shorter."""
FALSE_DIFFERENCE = 0.0001
"""Chance that a series counts as different in a cycle although it is not: then something may move."""


def since_change(read: Sequence[float], others: Sequence[Sequence[float]]) -> Sequence[float]:
    """Return the readings since the last change that shows; all of them if none does.

    What never varied has changed with its first other value. What varies is parted in two in each possible
    way, and the two means that differ most beside their errors are compared.

    Args:
        read: In the order of time (>= 1).
        others: Series of the same kind.
    """
    count = len(read)
    if not _varies(read):
        return read
    if count > 2 and not _varies(read[:-1]):  # what came twice does not vary by itself
        return read[-1:]
    values, first = np.array(read), np.arange(1, count)
    last = count - first
    before = values.cumsum()[:-1] / first
    after = (values.sum() - before * first) / last
    inside = np.maximum((values**2).sum() - first * before**2 - last * after**2, 0.0)
    squares, freedom = _inside(others)
    freedom += count - 2
    error = np.sqrt((inside + squares) / max(freedom, 1) * (1.0 / first + 1.0 / last))
    apart = np.abs(after - before) / np.maximum(error, np.finfo(np.float64).tiny)
    parted = int(apart.argmax())
    return read[parted + 1 :] if apart[parted] > farthest(freedom, FALSE_CHANGE / (count - 1)) else read


def alike(series: Sequence[Sequence[float]]) -> FloatArray:
    """Return (n_series,) the common mean, and of each series' difference from it what chance leaves over.

    So the best of many is not the one that noise favours, and what hardly differs does not count fully at
    once. What never varied is what it is; as long as nothing was read twice, everything is.

    Args:
        series: Readings of one kind, each series since its last change (>= 1 reading).
    """
    means = np.array([np.mean(read) for read in series])
    counts = np.array([len(read) for read in series])
    (noisy,) = np.nonzero([len(read) == 1 or _varies(read) for read in series])
    squares, freedom = _inside(series)
    if not freedom:
        return means
    found, count = means[noisy], counts[noisy]
    margin = farthest(freedom, FALSE_DIFFERENCE) * np.sqrt(squares / freedom / count)
    middle = np.sort(found)[found.size // 2]
    near = np.abs(found - middle) <= margin  # what is far off is left out of what is common
    common = np.average(found[near], weights=count[near])
    difference = found - common
    means[noisy] = common + np.sign(difference) * np.maximum(np.abs(difference) - margin, 0.0)
    return means


def _inside(series: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Return the sum of squares of what varies, each about its own mean, and its degrees of freedom.

    A few readings hardly know their spread; so all of a kind tell it together.
    """
    varying = [read for read in series if _varies(read)]
    return sum(float(np.var(read)) * len(read) for read in varying), sum(len(read) - 1 for read in varying)


def _varies(read: Sequence[float]) -> bool:
    return min(read) < max(read)
