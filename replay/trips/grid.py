"""Both queries' grids with numpy: the challenge's 300 x 300 cells of 500 m and 600 x 600 areas of 250 m.

Cell 1.1 and area 1.1 are centred on the same point; see `replay.grid` for the cells as Spark columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.grid import CELLS, NORTH_CENTRE, STEP_EAST, STEP_SOUTH, WEST_CENTRE

if TYPE_CHECKING:
    from replay.trips.arrays import BoolArray, FloatArray, IntArray


def cell_indices(coordinates: FloatArray) -> IntArray:
    """Return the cells of both ends.

    Args:
        coordinates: Shape (trips, 4): longitude, latitude of the pick-up, then of the drop-off, in degrees,
            finite.

    Returns:
        Shape (trips, 4): east, south of the pick-up, then of the drop-off; outside 1..300 it is off the grid.
    """
    return _indices(coordinates, finer=1)


def on_cells(coordinates: FloatArray) -> BoolArray:
    """Return per trip whether both ends lie on query 1's grid; arguments as of `cell_indices`."""
    return _inside(coordinates, finer=1)


def on_either_grid(coordinates: FloatArray) -> BoolArray:
    """Return per trip whether both ends lie on query 1's grid or both on query 2's.

    The areas begin a quarter of a cell further in and end as much further out.
    """
    return _inside(coordinates, finer=1) | _inside(coordinates, finer=2)


def _inside(coordinates: FloatArray, finer: int) -> BoolArray:
    indices = _indices(coordinates, finer)
    return np.asarray(((indices >= 1) & (indices <= CELLS * finer)).all(axis=1))


def _indices(coordinates: FloatArray, finer: int) -> IntArray:
    east = (coordinates[:, 0::2] - WEST_CENTRE) / (STEP_EAST / finer)
    south = (NORTH_CENTRE - coordinates[:, 1::2]) / (STEP_SOUTH / finer)
    # far outside all that int64 holds is far outside the grid
    steps = np.clip(np.stack([east[:, 0], south[:, 0], east[:, 1], south[:, 1]], axis=1), -1e9, 1e9)
    return np.floor(steps + 0.5).astype(np.int64) + 1
