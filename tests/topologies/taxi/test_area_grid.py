"""The grid of areas: where they lie, and where the grid ends."""

from __future__ import annotations

import random

import pytest

from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE
from topologies.taxi.grid import AreaGrid, area_name, cell_of, is_on_grid

WEST, NORTH = -74.913585, 41.474937


@pytest.mark.parametrize(
    ("longitude", "latitude", "centred", "corner"),
    [
        (WEST, NORTH, 1_001, 2_002),  # the challenge's point: a centre, or the middle of the cell's four
        (WEST - 0.0014, NORTH + 0.0011, 1_001, 1_001),
        (WEST - 0.0016, NORTH, 0, 1_002),
        (WEST, NORTH + 0.0012, 0, 2_001),
        (WEST - 0.0031, NORTH, 0, 0),
        (WEST + 599.4 * CELL_LONGITUDE / 2, NORTH - 599.4 * CELL_LATITUDE / 2, 600_600, 0),
        (WEST + 598.9 * CELL_LONGITUDE / 2, NORTH - 598.9 * CELL_LATITUDE / 2, 600_600, 600_600),
        (WEST + 599.6 * CELL_LONGITUDE / 2, NORTH, 0, 0),
        (1e308, NORTH, 0, 0),
        (WEST, -1e308, 0, 0),
    ],
)
def test_areas_begin_where_the_choice_says(
    longitude: float, latitude: float, centred: int, corner: int
) -> None:
    """Area 1.1 is centred on the challenge's point, or the north-western quarter of cell 1.1."""
    assert AreaGrid("centred").area_at(longitude, latitude) == centred
    assert AreaGrid("corner").area_at(longitude, latitude) == corner


def test_by_corner_four_areas_make_a_cell() -> None:
    """Each place's area is one of the four that its cell of query 1 is cut into."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    grid = AreaGrid("corner")
    for _ in range(500):
        place = chance.uniform(WEST - 0.01, -73.11), chance.uniform(40.12, NORTH + 0.01)
        area = grid.area_at(*place)
        assert bool(area) == is_on_grid(*place)
        if area:
            east, south = divmod(area, 1_000)
            assert f"{(east + 1) // 2}.{(south + 1) // 2}" == cell_of(*place)


def test_names_are_the_challenges() -> None:
    """East, a point, south, without zeros in front."""
    assert [area_name(area) for area in (1_001, 161_170, 600_600)] == ["1.1", "161.170", "600.600"]
