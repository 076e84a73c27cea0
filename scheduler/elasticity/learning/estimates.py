"""Costs that are estimated from what was paid (paper 004, eq. 5), less with more servers and lower levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray

_ROUNDS = 2000
"""Projections after which a fit ends at the latest: one of a hundred tables takes 80, some take hundreds."""

_CLOSE = 1e-6
"""Of costs between 0 and 1."""


def averaged(old: float, paid: float, learning_rate: float) -> float:
    """Return (1 - alpha) old + alpha paid (eq. 5)."""
    return (1.0 - learning_rate) * old + learning_rate * paid


def clamped(table: FloatArray, row: int, column: int, value: float) -> FloatArray:
    """Return a table with one new value, and all others moved so that none contradicts it (as written).

    Fewer servers and higher levels cost no less, more servers and lower levels no more. What is moved is
    forgotten: a single good interval lowers all estimates of more servers.

    Args:
        table: (n_servers, n_levels), rows by rising number of servers.
        row: Of the new value.
        column: Of the new value.
        value: The new value.
    """
    old, changed = float(table[row, column]), table.copy()
    changed[row, column] = value
    if value > old:
        np.maximum(changed[: row + 1, column:], value, out=changed[: row + 1, column:])
    elif value < old:
        np.minimum(changed[row:, : column + 1], value, out=changed[row:, : column + 1])
    return frozen(changed)


@dataclass(frozen=True, eq=False)
class Fit:
    """The nearest table in order to estimates, and what the next fit begins with.

    Attributes:
        table: (n_servers, n_levels) falls with the number of servers and rises with the level.
        by_columns: (n_servers, n_levels) what the order of servers took off the estimates, times weights.
    """

    table: FloatArray
    by_columns: FloatArray


def fitted(table: FloatArray, weights: FloatArray, start: Fit | None = None) -> Fit:
    """Return the nearest table that falls with the number of servers and rises with the level (repaired).

    Nearest by weighted squares; the estimates themselves stay as they are. Dykstra's projections onto both
    orders in turn converge to it wherever they begin, and sooner from a fit that is near.

    Args:
        table: (n_servers, n_levels) estimates, rows by rising number of servers.
        weights: (n_servers, n_levels) what each estimate weighs (> 0).
        start: Of estimates that were much the same.
    """
    by_columns = np.zeros_like(table) if start is None else start.by_columns / weights
    fit = table
    for _ in range(_ROUNDS):
        rows = _rising(table - by_columns, weights)
        columns = _rising((rows + by_columns).T[:, ::-1], weights.T[:, ::-1])[:, ::-1].T
        by_columns = by_columns + rows - columns
        step = max(float(np.abs(columns - fit).max()), float(np.abs(rows - columns).max()))
        fit = columns
        if step < _CLOSE:
            break
    # columns are in order; what rows lack of it, also after the last round, a running maximum adds
    return Fit(frozen(np.maximum.accumulate(fit, axis=1)), frozen(by_columns * weights))


def _rising(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(n, m) the nearest rows that rise: y_i = max over a <= i of min over b >= i of the mean of a..b."""
    if (np.diff(values, axis=1) >= 0.0).all():
        return values
    n, m = values.shape
    sums = np.zeros((n, m + 1))
    masses = np.zeros((n, m + 1))
    np.cumsum(values * weights, axis=1, out=sums[:, 1:])
    np.cumsum(weights, axis=1, out=masses[:, 1:])
    first, last = np.arange(m)[:, None], np.arange(m)[None, :]
    mass = masses[:, None, 1:] - masses[:, :-1, None]
    mean = (sums[:, None, 1:] - sums[:, :-1, None]) / np.where(first <= last, mass, 1.0)
    # least of the means that begin at a and end at b or later; at b >= i it is what the formula asks for
    ends = np.minimum.accumulate(np.where(first <= last, mean, np.inf)[:, :, ::-1], axis=2)[:, :, ::-1]
    highest = np.maximum.accumulate(np.where(first <= last, ends, -np.inf), axis=1)
    return highest[:, np.arange(m), np.arange(m)]
