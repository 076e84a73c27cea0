"""Which trips of a table are no use to the queries, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.grid import on_either_grid
from replay.trips.table import AMOUNTS, COORDINATES, DAY_S

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from scheduler.base.arrays import BoolArray, IntArray

MISSING = "missing values"
ZERO = "zero coordinates"
OFF_GRID = "off the grid"
TIMES = "impossible times"
DUPLICATE = "duplicates"

REASONS = (MISSING, ZERO, OFF_GRID, TIMES)
"""In this order: a trip is turned away by the first that holds. Duplicates are looked for in the rest."""
KEPT = -1

VALUES = ("trip_time_in_secs", "trip_distance", *COORDINATES, *AMOUNTS)
"""Must be there; names of taxis, drivers and payments need not, as whole sources have none."""
COLUMNS = ("pickup_s", "dropoff_s", *VALUES)


def reasons(trips: pa.Table) -> IntArray:
    """Return per trip the place in `REASONS` of why it is turned away, or `KEPT`.

    Args:
        trips: With the columns `COLUMNS` at least.
    """
    coordinates = np.stack([_numbers(trips[name]) for name in COORDINATES], axis=1)
    missing = np.zeros(trips.num_rows, dtype=np.bool_)
    for name in VALUES:
        if trips[name].null_count:
            missing |= trips[name].is_null().to_numpy()
    duration = trips["dropoff_s"].to_numpy() - trips["pickup_s"].to_numpy()
    found = np.full(trips.num_rows, KEPT, dtype=np.int8)
    holds: list[BoolArray] = [
        missing,
        (coordinates == 0.0).any(axis=1),
        ~on_either_grid(np.nan_to_num(coordinates)),
        (duration < 0) | (duration > DAY_S),
    ]
    for place, mask in reversed(list(enumerate(holds))):
        found[mask] = place
    return found


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(column.to_numpy(), dtype=np.float64)
