"""The challenge's grid of 300 x 300 cells of 500 m over New York, and routes between its cells."""

from __future__ import annotations

from math import floor

ORIGIN_LONGITUDE = -74.913585
"""Longitude of the CENTRE of cell 1.1, degrees."""

ORIGIN_LATITUDE = 41.474937
"""Latitude of the CENTRE of cell 1.1, degrees (not of its border, as in one public solution)."""

CELL_LONGITUDE = 0.005986
"""500 m to the east in degrees, by the challenge's flat-earth convention."""

CELL_LATITUDE = 0.004491556
"""500 m to the south in degrees, by the challenge's flat-earth convention."""

CELLS = 300
"""Cells per side; trips that leave them are not considered."""


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
