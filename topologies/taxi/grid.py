"""The challenge's grid of 300 x 300 cells of 500 m over New York, and routes between its cells."""

from __future__ import annotations

from math import floor

from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE, CELLS, ORIGIN_LATITUDE, ORIGIN_LONGITUDE


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
