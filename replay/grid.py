"""The challenge's grid of 300 x 300 cells of 500 m, as Spark columns.

Cell 1.1 is centred on 41.474937, -74.913585; the first number grows to the east, the second to the south. The
earth is taken as flat: 500 m are 0.005986 degrees of longitude and 0.004491556 degrees of latitude (the
challenge's call and the first question of its FAQ).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

if TYPE_CHECKING:
    from pyspark.sql import Column

WEST_CENTRE = -74.913585
NORTH_CENTRE = 41.474937
STEP_EAST = 0.005986
STEP_SOUTH = 0.004491556
CELLS = 300


def east_index(longitude: Column) -> Column:
    """Return the first number of the cell of a longitude (degrees); outside 1..300 it is off the grid."""
    return F.floor((longitude - F.lit(WEST_CENTRE)) / F.lit(STEP_EAST) + 0.5) + 1


def south_index(latitude: Column) -> Column:
    """Return the second number of the cell of a latitude (degrees); outside 1..300 it is off the grid."""
    return F.floor((F.lit(NORTH_CENTRE) - latitude) / F.lit(STEP_SOUTH) + 0.5) + 1


def on_grid(*indices: Column) -> Column:
    """Return whether all indices lie in 1..300."""
    inside = F.lit(True)
    for index in indices:
        inside = inside & index.between(1, CELLS)
    return inside


def route(start_east: Column, start_south: Column, end_east: Column, end_south: Column) -> Column:
    """Return a route's name `START-END`, for example `161.170-160.170`."""
    return F.format_string("%d.%d-%d.%d", start_east, start_south, end_east, end_south)
