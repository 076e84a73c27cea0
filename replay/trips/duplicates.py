"""Trips that stand in a table more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

if TYPE_CHECKING:
    from replay.trips.arrays import BoolArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def seen_before(trips: pa.Table) -> BoolArray:
    """Return which trips are equal to an earlier one in all columns but `n`.

    Rows of equal hash are compared with one another, so no row is called a duplicate by chance.

    Args:
        trips: Names as dictionaries, each column in one piece.
    """
    columns = [_bits(trips[name]) for name in trips.column_names if name != "n"]
    hashes = np.zeros(trips.num_rows, dtype=np.uint64)
    for bits in columns:
        hashes = (hashes ^ bits) * _MIX
        hashes ^= hashes >> _SHIFT
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order][1:] == hashes[order][:-1]
    later, earlier = order[1:][equal], order[:-1][equal]
    for bits in columns:
        same = bits[later] == bits[earlier]
        later, earlier = later[same], earlier[same]
    found = np.zeros(trips.num_rows, dtype=np.bool_)
    found[later] = True
    return found


def _bits(column: pa.ChunkedArray) -> np.ndarray:
    """Return 64 bits per row that are equal where the values are."""
    whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        places: np.ndarray = whole.indices.fill_null(-1).to_numpy()
        return places.astype(np.int64).view(np.uint64)
    values: np.ndarray = whole.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)
