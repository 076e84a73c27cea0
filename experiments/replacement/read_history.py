"""Readings of some cycles: their means, and the standard errors of these."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.moving.reading_errors import ReadingErrors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.base.arrays import FloatArray

Key = tuple[str, ...]
"""Name of a node, or of both ends of a link."""

ENOUGH = 5
"""Readings from which their spread is known."""
_LEAST_GROUP = 3
"""Nodes or links of which it can be known how far their truths are apart."""
_COMMON_WEIGHT = 10
"""As many readings as the spread of all others counts beside a node's or link's own."""
_FAR = 4.0
"""Standard deviations; two readings in a row that are further from all before are another truth."""


class ReadHistory:
    """What was read of availabilities and delays in the last cycles.

    Args:
        window: Cycles whose readings count (>= 1).
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._read: dict[str, dict[Key, deque[float]]] = {}
        self._times = 0

    @property
    def errors_known(self) -> bool:
        """Whether enough was read to know how far readings are off."""
        return self._times >= ENOUGH

    def smooth(self, document: dict[str, Any]) -> ReadingErrors:
        """Take the readings of a cycle; put their means into the document and return their errors."""
        self._times += 1
        network = document["network"]
        names = [node["name"] for node in network["nodes"]]
        keys = [(name,) for name in names]
        up, up_error = self._means("availability", keys, [node["availability"] for node in network["nodes"]])
        for node, value in zip(network["nodes"], up.tolist(), strict=True):
            node["availability"] = value
        pairs = [(one, other) for one in names for other in names if one != other]
        apart = ~np.eye(len(names), dtype=np.bool_)
        errors = {}
        for table in ("delay_ms", "link_availability"):
            values, errors[table] = np.array(network[table], dtype=np.float64), np.zeros(apart.shape)
            values[apart], errors[table][apart] = self._means(table, pairs, values[apart].tolist())
            network[table] = values.tolist()
        return ReadingErrors(availability=up_error, **errors)

    def _means(
        self, kind: str, keys: Iterable[Key], values: Iterable[float]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean of each key's readings, and its standard error."""
        known = self._read.setdefault(kind, {})
        for key, value in zip(keys, values, strict=True):
            read = known.setdefault(key, deque(maxlen=self._window))
            read.append(value)
            _forget_another_truth(read)
        found = [known[key] for key in keys]
        # a node that has just come has no spread of its own: it may be as large as that of the others
        common = _common_spread(known.values())
        spread = [_own_spread(read, common) for read in found]
        mean = np.array([math.fsum(read) / len(read) for read in found])
        error = np.array([s / math.sqrt(len(read)) for s, read in zip(spread, found, strict=True)])
        return _drawn_together(mean, error)


def _own_spread(read: deque[float], common: float) -> float:
    """Return the spread of readings, drawn towards that of all: a few readings hardly know their own."""
    if len(read) > 1 and len(set(read)) == 1:
        return 0.0
    own = _spread(read) ** 2 * (len(read) - 1) if len(read) > 1 else 0.0
    return math.sqrt((own + common**2 * _COMMON_WEIGHT) / (len(read) - 1 + _COMMON_WEIGHT))


def _drawn_together(mean: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means drawn towards their common mean, as far as they differ no more than by their errors.

    Empirical Bayes (Efron and Morris, JASA 1975): what is left of the variance of the means when that of
    their errors is taken off is how far the truths are apart.
    """
    noisy = error > 0
    if noisy.sum() < _LEAST_GROUP:
        return mean, error
    variance = error[noisy] ** 2
    apart = max(float(np.var(mean[noisy], ddof=1)) - float(variance.mean()), 0.0)
    kept = apart / (apart + variance)
    centre = float(np.average(mean[noisy], weights=1.0 / (apart + variance)))
    together, left = mean.copy(), error.copy()
    together[noisy] = centre + kept * (mean[noisy] - centre)
    left[noisy] = np.sqrt(kept * variance)
    return together, left


def _spread(read: Iterable[float]) -> float:
    return float(np.std(list(read), ddof=1))


def _common_spread(all_read: Iterable[deque[float]]) -> float:
    variances = [_spread(read) ** 2 for read in all_read if len(read) > 1]
    moving = [each for each in variances if each > 0]
    return math.sqrt(math.fsum(moving) / len(moving)) if moving else 0.0


def _forget_another_truth(read: deque[float]) -> None:
    """Keep the last two readings alone if both are far from all before, and on the same side."""
    if len(read) < ENOUGH + 2:
        return
    before, last = list(read)[:-2], list(read)[-2:]
    mean, far = math.fsum(before) / len(before), _FAR * _spread(before)
    if all(each - mean > far for each in last) or all(mean - each > far for each in last):
        for _ in before:
            read.popleft()
