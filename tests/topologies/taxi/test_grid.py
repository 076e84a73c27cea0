"""The grid is the published one."""

from __future__ import annotations

import pytest

from topologies.taxi.grid import cell_of, is_on_grid


@pytest.mark.parametrize(
    ("longitude", "latitude", "cell"),
    [
        (-74.913585, 41.474937, "1.1"),  # the centre of the first cell
        (-74.901613, 41.447988, "3.7"),
        (-74.913585 + 0.005986 / 2 + 1e-9, 41.474937, "2.1"),
        (-74.913585, 41.474937 - 0.004491556 / 2 - 1e-9, "1.2"),
        (-74.913585 - 0.0029, 41.474937 + 0.0022, "1.1"),  # north of the centre: half a cell belongs to row 1
        (-73.956528, 40.716976, "161.170"),
        (-73.962440, 40.715008, "160.170"),
    ],
)
def test_a_point_lies_in_the_published_cell(longitude: float, latitude: float, cell: str) -> None:
    """Cell 1.1 is centred on 41.474937, -74.913585; cells are 500 m by the challenge's degrees."""
    assert cell_of(longitude, latitude) == cell


@pytest.mark.parametrize(
    ("longitude", "latitude", "on_grid"),
    [
        (-74.916577, 41.477182, True),
        (-74.916579, 41.477182, False),
        (-74.916577, 41.477183, False),
        (-73.120779, 40.129716, True),
        (-73.120777, 40.129716, False),
        (-73.120779, 40.129715, False),
        (0.0, 0.0, False),
        (1e308, 41.0, False),
        (-74.0, -1e308, False),
    ],
)
def test_the_grid_ends_where_the_published_one_does(longitude: float, latitude: float, on_grid: bool) -> None:
    """300 cells per side, from half a cell before the first centre; however far a place is off."""
    assert is_on_grid(longitude, latitude) is on_grid
