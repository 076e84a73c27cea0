"""Trips that stand in a table more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # likewise

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray


def seen_before(trips: pa.Table) -> BoolArray:
    """Return which trips are equal to an earlier one in all columns but `n`.

    Args:
        trips: Names as dictionaries, each column in one piece.
    """
    columns = {name: _comparable(trips[name].combine_chunks()) for name in trips.column_names if name != "n"}
    places = pa.table({**columns, "place": np.arange(trips.num_rows)})
    first = places.group_by(list(columns), use_threads=False).aggregate([("place", "min")])["place_min"]
    found = np.ones(trips.num_rows, dtype=np.bool_)
    found[first.to_numpy()] = False
    return found


def _comparable(column: pa.Array) -> pa.Array:
    """Return values that are grouped where they are equal: names as numbers, and 0 for -0."""
    if pa.types.is_dictionary(column.type):
        return column.indices
    return pc.add(column, 0.0) if pa.types.is_floating(column.type) else column
