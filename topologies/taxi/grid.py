"""The challenge's grid of 300 x 300 cells of 500 m over New York, and routes between its cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

ORIGIN_LONGITUDE = -74.913585
"""Longitude of the CENTRE of cell 1.1, degrees."""

ORIGIN_LATITUDE = 41.474937
"""Latitude of the CENTRE of cell 1.1, degrees (not of its border, as in one public solution)."""

CELL_LONGITUDE = 0.005986
"""500 m to the east in degrees, by the challenge's flat-earth convention."""

CELL_LATITUDE = 0.004491556
"""500 m to the south in degrees, by the challenge's flat-earth convention."""

CELLS = 300
"""Cells per side."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: `east` and `south` count from 1 to 300."""

    east: int
    south: int

    def __str__(self) -> str:
        return f"{self.east}.{self.south}"

    @property
    def on_grid(self) -> bool:
        """Whether the cell is one of the challenge's 300 x 300; trips that leave them are not considered."""
        return 1 <= self.east <= CELLS and 1 <= self.south <= CELLS


@dataclass(frozen=True, slots=True)
class Point:
    """A place on earth, in degrees."""

    longitude: float
    latitude: float

    @property
    def is_zero(self) -> bool:
        """Whether a taxi's missing fix was written as zero in either coordinate."""
        return self.longitude == 0.0 or self.latitude == 0.0


@dataclass(frozen=True, slots=True)
class Route:
    """Start and end cell of a trip; its text is `START-END`, for example `161.170-160.170`."""

    start: Cell
    end: Cell

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"

    @classmethod
    def between(cls, pickup: Point, dropoff: Point) -> Self:
        """Return the route of a trip; its cells may lie off the grid."""
        return cls(cell_of(pickup), cell_of(dropoff))

    @property
    def on_grid(self) -> bool:
        """Whether both ends lie on the grid."""
        return self.start.on_grid and self.end.on_grid


def cell_of(point: Point) -> Cell:
    """Return the cell that holds a point, also for points off the grid.

    Args:
        point: Finite coordinates.

    Returns:
        East index from the longitude, south index from the latitude.
    """
    east = math.floor((point.longitude - ORIGIN_LONGITUDE) / CELL_LONGITUDE + 0.5) + 1
    south = math.floor((ORIGIN_LATITUDE - point.latitude) / CELL_LATITUDE + 0.5) + 1
    return Cell(east, south)
