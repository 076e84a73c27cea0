"""The challenge's grids (`formats.taxi_grid`) for whole arrays of points, and for both ends of trips.

A cell is one whole number here: 1000 x its first number + its second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE, CELLS, ORIGIN_LATITUDE, ORIGIN_LONGITUDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

OFF_GRID = 0
_FIRST = 1000


def cells(longitude: FloatArray, latitude: FloatArray) -> IntArray:
    """Return the cell of 500 m of each point, `OFF_GRID` outside 300 x 300.

    Args:
        longitude: (n,) degrees, NaN allowed.
        latitude: (n,) degrees, NaN allowed.
    """
    return _numbers(longitude, latitude, parts=1, shift=0.5)


def areas(longitude: FloatArray, latitude: FloatArray, layout: str) -> IntArray:
    """Return the area of 250 m of each point, `OFF_GRID` outside 600 x 600.

    Args:
        longitude: (n,) degrees, NaN allowed.
        latitude: (n,) degrees, NaN allowed.
        layout: `centred`: area 1.1 has the challenge's point in its middle; `corner`: it begins at the corner
            of cell 1.1.
    """
    return _numbers(longitude, latitude, parts=2, shift=0.5 if layout == "centred" else 1.0)


def parts(cell: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first and the second number of cells or areas; 0 and 0 of `OFF_GRID`."""
    return cell // _FIRST, cell % _FIRST


def name(cell: int) -> str:
    """Return a cell as the challenge writes it, for example `161.170`."""
    return f"{cell // _FIRST}.{cell % _FIRST}"


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


def _numbers(longitude: FloatArray, latitude: FloatArray, parts: int, shift: float) -> IntArray:
    """Cut each side of a cell in `parts`; the point lies `shift` parts inside the grid's corner."""
    with np.errstate(over="ignore"):  # then they are infinitely far off the grid
        east = np.floor((longitude - ORIGIN_LONGITUDE) / (CELL_LONGITUDE / parts) + shift) + 1
        south = np.floor((ORIGIN_LATITUDE - latitude) / (CELL_LATITUDE / parts) + shift) + 1
    last = CELLS * parts
    inside = (east >= 1) & (east <= last) & (south >= 1) & (south <= last)
    numbers = np.full(east.shape, OFF_GRID, dtype=np.int64)
    numbers[inside] = (east[inside] * _FIRST + south[inside]).astype(np.int64)
    return numbers
