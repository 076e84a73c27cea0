"""Rules of coordinates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.coordinate import MAX_ERROR, MAX_EXTENT_MS, Coordinate, origin

numbers_ms = st.floats(-1000, 1000)
coordinates = st.builds(
    Coordinate, st.tuples(numbers_ms, numbers_ms, numbers_ms), st.floats(0, 100), st.floats(0, MAX_ERROR)
)


@given(coordinates, coordinates)
def test_delay_is_the_same_both_ways_and_at_least_both_heights(a: Coordinate, b: Coordinate) -> None:
    assert a.delay_ms(b) == b.delay_ms(a) >= a.height_ms + b.height_ms


def test_delay_is_distance_plus_heights() -> None:
    assert Coordinate((0.0, 3.0), 1.0, 0.1).delay_ms(Coordinate((4.0, 0.0), 0.5, 0.1)) == 6.5


@pytest.mark.parametrize(
    ("place", "word"),
    [
        (Coordinate((0.0, 0.0), 1.0, 0.5), "dimensions"),
        (Coordinate((0.0, math.nan, 0.0), 1.0, 0.5), "finite"),
        (Coordinate((0.0, 0.0, math.inf), 1.0, 0.5), "finite"),
        (Coordinate((0.0, 0.0, 0.0), math.nan, 0.5), "finite"),
        (Coordinate((0.0, 0.0, 0.0), 1.0, math.nan), "finite"),
        (Coordinate((0.0, -2 * MAX_EXTENT_MS, 0.0), 1.0, 0.5), "farther"),
        (Coordinate((0.0, 0.0, 0.0), 2 * MAX_EXTENT_MS, 0.5), "farther"),
        (Coordinate((0.0, 0.0, 0.0), -0.1, 0.5), "height"),
        (Coordinate((0.0, 0.0, 0.0), 1.0, -0.1), "error"),
        (Coordinate((0.0, 0.0, 0.0), 1.0, 2.0), "error"),
    ],
)
def test_fault_names_what_makes_a_coordinate_unusable(place: Coordinate, word: str) -> None:
    assert word in place.fault(3)


@given(coordinates)
def test_ordinary_coordinates_and_the_origin_have_no_fault(place: Coordinate) -> None:
    assert place.fault(3) == ""
    assert origin(3, 0.01).fault(3) == ""
