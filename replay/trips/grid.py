"""The grids of both queries for both ends of trips at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.grid import OFF_GRID, areas, cells, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


def cell_indices(coordinates: FloatArray) -> IntArray:
    """Return the cells of both ends.

    Args:
        coordinates: Shape (trips, 4): longitude, latitude of the pick-up, then of the drop-off, in degrees,
            finite.

    Returns:
        Shape (trips, 4): east, south of the pick-up, then of the drop-off; 0 off the grid.
    """
    return np.stack([part for end in _ends(coordinates, cells) for part in parts(end)], axis=1)


def on_cells(coordinates: FloatArray) -> BoolArray:
    """Return per trip whether both ends lie on query 1's grid; arguments as of `cell_indices`."""
    return _inside(coordinates, cells)


def on_either_grid(coordinates: FloatArray) -> BoolArray:
    """Return per trip whether both ends lie on query 1's grid or both on query 2's.

    The areas begin a quarter of a cell further in and end as much further out.
    """
    return _inside(coordinates, cells) | _inside(
        coordinates, lambda longitude, latitude: areas(longitude, latitude, "centred")
    )


def _inside(coordinates: FloatArray, place: Callable[[FloatArray, FloatArray], IntArray]) -> BoolArray:
    pickup, dropoff = _ends(coordinates, place)
    return np.asarray((pickup != OFF_GRID) & (dropoff != OFF_GRID))


def _ends(
    coordinates: FloatArray, place: Callable[[FloatArray, FloatArray], IntArray]
) -> tuple[IntArray, IntArray]:
    pickup_longitude, pickup_latitude, dropoff_longitude, dropoff_latitude = coordinates.T
    return place(pickup_longitude, pickup_latitude), place(dropoff_longitude, dropoff_latitude)
