"""The challenge's grids over New York: 300 x 300 cells of 500 m, and 600 x 600 areas of 250 m."""

from __future__ import annotations

from math import floor
from typing import Literal

from formats.taxi_grid import (
    AREAS,
    CELL_LATITUDE,
    CELL_LONGITUDE,
    CELLS,
    ORIGIN_LATITUDE,
    ORIGIN_LONGITUDE,
)

_AREA_LONGITUDE = CELL_LONGITUDE / 2
_AREA_LATITUDE = CELL_LATITUDE / 2
_EAST = 1_000  # an area's number is its index to the east times this, plus its index to the south


def is_on_grid(longitude: float, latitude: float) -> bool:
    """Whether a place (degrees, finite) lies in one of the 300 x 300 cells."""
    # compared before they are made whole: a coordinate may be so far off that its quotient is infinite
    return (
        0.0 <= (longitude - ORIGIN_LONGITUDE) / CELL_LONGITUDE + 0.5 < CELLS
        and 0.0 <= (ORIGIN_LATITUDE - latitude) / CELL_LATITUDE + 0.5 < CELLS
    )


def cell_of(longitude: float, latitude: float) -> str:
    """Return the cell that holds a place (degrees, finite), for example `161.170`; off the grid too.

    The index to the east comes from the longitude, that to the south from the latitude; both count from 1.
    """
    return (
        f"{floor((longitude - ORIGIN_LONGITUDE) / CELL_LONGITUDE + 0.5) + 1}."
        f"{floor((ORIGIN_LATITUDE - latitude) / CELL_LATITUDE + 0.5) + 1}"
    )


class AreaGrid:
    """Gives places their area, as one number: `161170` is area 161.170.

    Args:
        alignment: `centred`: the challenge's point is the centre of area 1.1; `corner`: it is the centre of
            the 500 m cell 1.1, whose north-western quarter is area 1.1.
    """

    def __init__(self, alignment: Literal["centred", "corner"] = "centred") -> None:
        self._shift = 0.5 if alignment == "centred" else 1.0

    def area_at(self, longitude: float, latitude: float) -> int:
        """Return the number of the area that holds a place, 0 when it lies off the grid.

        Args:
            longitude: Degrees, finite.
            latitude: Degrees, finite.
        """
        east = (longitude - ORIGIN_LONGITUDE) / _AREA_LONGITUDE + self._shift
        south = (ORIGIN_LATITUDE - latitude) / _AREA_LATITUDE + self._shift
        # compared before they are made whole: a coordinate may be so far off that its quotient is infinite
        if 0.0 <= east < AREAS and 0.0 <= south < AREAS:
            return (int(east) + 1) * _EAST + int(south) + 1
        return 0


def area_name(area: int) -> str:
    """Return the challenge's name of an area, for example `161.170`."""
    east, south = divmod(area, _EAST)
    return f"{east}.{south}"
