"""Profits and empty taxis: what is in their windows, at the edges and in between."""

from __future__ import annotations

import pytest

from formats.semantics import Semantics
from topologies.taxi.areas.area import Area
from topologies.taxi.areas.area_share import AreaShare
from topologies.taxi.areas.taxi_share import TaxiShare


def test_a_trip_counts_for_less_than_15_minutes() -> None:
    """At 899 s it is in the median, at 900 s it is out and the area is no longer listed."""
    share = AreaShare(Semantics(), 1_000)
    share.trip(1, 7_007, 500)
    share.taxi(7_007, 1)
    top = share.settle()
    assert top is not None
    assert [(each.area, each.half_cents, each.empty, each.freshest) for each in top] == [(7_007, 1_000, 1, 1)]
    share.advance(1_899)
    assert share.settle() is None
    share.advance(1_900)
    assert share.settle() == []


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
        share = AreaShare(Semantics(median="cents" if choice == "cents" else "exact"), 1_000)
        share.taxi(7_007, 1)
        for row, amount in enumerate(amounts, start=2):
            share.trip(row, 7_007, amount)
        top = share.settle()
        assert top is not None
        assert [each.half_cents for each in top] == [expected]


def test_a_taxi_is_empty_for_less_than_30_minutes() -> None:
    """At 1,799 s it is there, at 1,800 s it leaves."""
    taxis = TaxiShare(1_000)
    assert taxis.drop_off(1, "m", 7) == [(7, 1)]
    assert taxis.advance(2_799) == []
    assert taxis.advance(2_800) == [(7, -1)]


def test_the_next_row_of_a_taxi_takes_it_from_its_old_area() -> None:
    """Also within one area; what it left before does not leave again when its time is over."""
    taxis = TaxiShare(1_000)
    taxis.drop_off(1, "m", 7)
    assert taxis.advance(1_600) == []
    assert taxis.drop_off(2, "m", 7) == [(7, -1), (7, 2)]
    assert taxis.drop_off(3, "m", 8) == [(7, -2), (8, 3)]
    assert taxis.advance(2_800) == []
    assert taxis.advance(3_400) == [(8, -3)]


def test_a_taxi_that_comes_back_after_its_time_has_no_old_area() -> None:
    """It left by the clock, in the same row at the latest."""
    taxis = TaxiShare(1_000)
    taxis.drop_off(1, "m", 7)
    assert taxis.advance(2_800) == [(7, -1)]
    assert taxis.drop_off(2, "m", 7) == [(7, 2)]


def test_nothing_counts_before_the_time_is_known() -> None:
    """A trip without a time would never leave its window."""
    with pytest.raises(ValueError, match="advance"):
        TaxiShare().drop_off(1, "m", 7)
    with pytest.raises(ValueError, match="advance"):
        AreaShare(Semantics()).trip(1, 7_007, 500)


def test_rows_of_taxis_stay_in_order() -> None:
    """The last is the highest of those that are there, whichever leaves first."""
    area = Area(7_007)
    for stop in (3, 5, 4, 9, -9):
        area.taxi(stop)
    assert area.stops == [3, 4, 5]
    for stop in (-3, -5, -4):
        area.taxi(stop)
    assert area.stops == []


@pytest.mark.parametrize("stops", [[], [3], [5], [3, 5]])
def test_a_taxi_that_was_never_there_cannot_leave(stops: list[int]) -> None:
    """The ranks would be wrong from then on: an error that names area and row."""
    area = Area(7_007)
    for stop in stops:
        area.taxi(stop)
    with pytest.raises(ValueError, match="area 7007: no empty taxi of row 4"):
        area.taxi(-4)
