"""The challenge's grid over New York: cells of 500 m for query 1, areas of 250 m for query 2.

Cell 1.1 is centred on the challenge's point; the first number grows to the east, the second to the south. The
earth is taken as flat (the challenge's call and the first question of its FAQ).
"""

from __future__ import annotations

ORIGIN_LONGITUDE = -74.913585
"""Longitude of the CENTRE of cell 1.1, degrees."""

ORIGIN_LATITUDE = 41.474937
"""Latitude of the CENTRE of cell 1.1, degrees (not of its border, as in one public solution)."""

CELL_LONGITUDE = 0.005986
"""500 m to the east, degrees."""

CELL_LATITUDE = 0.004491556
"""500 m to the south, degrees."""

CELLS = 300
"""Cells per side; trips that leave them are not considered."""

AREAS = 2 * CELLS
"""Areas per side."""
