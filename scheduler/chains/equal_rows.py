"""The cheapest of each set of equal rows, for dominance among partial solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray


def cheapest_of_equals(rows: np.ndarray[tuple[int, int], np.dtype[Any]], cost: FloatArray) -> IntArray:
    """Return the indices of rows such that every row equals a returned one that costs no more.

    Rows are brought together by a hash and compared in full: rows that differ are never taken for equal. Two
    rows of equal hash may hide that equal ones are not neighbours; then both stay, which does no harm.

    Args:
        rows: (k, width) whole numbers.
        cost: (k,).
    """
    weights = np.random.default_rng(0).integers(1, 2**62, rows.shape[1], dtype=np.uint64)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for column, weight in enumerate(weights):
        hashes += rows[:, column].astype(np.uint64) * weight
    order = np.lexsort((cost, hashes))
    first = np.ones(len(rows), dtype=np.bool_)
    alike = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    first[alike + 1] = (rows[order[alike + 1]] != rows[order[alike]]).any(axis=1)
    return np.sort(order[first])
