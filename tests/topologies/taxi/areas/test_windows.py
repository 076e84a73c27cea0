"""Profits and empty taxis: what is in their windows, at the edges and in between."""

from __future__ import annotations

import pytest

from topologies.taxi.areas.empty_taxis import EmptyTaxis
from topologies.taxi.areas.profits import Profits
from topologies.taxi.areas.taxi_stands import TaxiStands


def test_a_trip_counts_for_less_than_15_minutes() -> None:
    """At 899 s it is in the median, at 900 s it is out."""
    profits = Profits()
    profits.advance(1_000)
    profits.add(1, 7, 500)
    assert (profits.advance(1_899), profits.half_cents(7), profits.latest(7)) == ([], 1_000, 1)
    assert (profits.advance(1_900), profits.half_cents(7), profits.latest(7)) == ([7], None, 0)


@pytest.mark.parametrize(
    ("amounts", "exact", "cents"),
    [
        ([300], 600, 600),
        ([300, 301], 601, 600),
        ([-300, -301], -601, -600),
        ([0, -1], -1, 0),
        ([5, 1, 900], 10, 10),
        ([0, 0, 0, 0], 0, 0),
    ],
)
def test_the_median_is_exact_or_cut_to_cents(amounts: list[int], exact: int, cents: int) -> None:
    """Of an even number of trips the mean of the middle two; cut means towards zero."""
    for choice, expected in (("exact", exact), ("cents", cents)):
        profits = Profits("cents" if choice == "cents" else "exact")
        for row, amount in enumerate(amounts, start=1):
            profits.add(row, 7, amount)
        assert profits.half_cents(7) == expected


def test_a_taxi_is_empty_for_less_than_30_minutes() -> None:
    """At 1,799 s it is there, at 1,800 s it leaves, at the row that moves the clock."""
    taxis = EmptyTaxis()
    assert taxis.advance(1, 1_000) == []
    assert taxis.drop_off(1, "m", 7) == [(1, 7, 1)]
    assert taxis.advance(5, 2_799) == []
    assert taxis.advance(9, 2_800) == [(9, 7, -1)]


def test_the_next_row_of_a_taxi_takes_it_from_its_old_area() -> None:
    """Also within one area; what it left before does not leave again when its time is over."""
    taxis = EmptyTaxis()
    taxis.advance(1, 1_000)
    taxis.drop_off(1, "m", 7)
    taxis.advance(2, 1_600)
    assert taxis.drop_off(2, "m", 7) == [(2, 7, -1), (2, 7, 2)]
    assert taxis.drop_off(3, "m", 8) == [(3, 7, -2), (3, 8, 3)]
    assert taxis.advance(4, 2_800) == []
    assert taxis.advance(5, 3_400) == [(5, 8, -3)]


def test_a_taxi_that_comes_back_after_its_time_has_no_old_area() -> None:
    """It left by the clock, in the same row at the latest."""
    taxis = EmptyTaxis()
    taxis.advance(1, 1_000)
    taxis.drop_off(1, "m", 7)
    assert taxis.advance(2, 2_800) == [(2, 7, -1)]
    assert taxis.drop_off(2, "m", 7) == [(2, 7, 2)]


def test_the_latest_of_the_taxis_that_are_there_counts() -> None:
    """Number of taxis and the highest of their rows, whichever leaves first."""
    stands = TaxiStands()
    for stop in (3, 5, 4, 9):
        stands.change(7, stop)
    assert stands.at(7) == (4, 9)
    stands.change(7, -9)
    assert stands.at(7) == (3, 5)
    for stop in (-3, -5, -4):
        stands.change(7, stop)
    assert stands.at(7) == stands.at(8) == (0, 0)


@pytest.mark.parametrize("stops", [[], [3], [5], [3, 5]])
def test_a_taxi_that_was_never_there_cannot_leave(stops: list[int]) -> None:
    """The ranks would be wrong from then on: an error that names area and row."""
    stands = TaxiStands()
    for stop in stops:
        stands.change(7, stop)
    with pytest.raises(ValueError, match="area 7: no empty taxi of row 4"):
        stands.change(7, -4)
