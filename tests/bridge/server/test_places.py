"""A new connection takes the place of an idle one, never of one whose request is being answered."""

from __future__ import annotations

import itertools

import pytest

from bridge.server.places import Connection, NoPlaceError, Places, Stage


@pytest.fixture
def places():
    return Places(2, itertools.count().__next__)


def connection(name):
    return Connection(None, name)


def test_the_connection_that_has_been_idle_for_longest_gives_way(places):
    """The one that was served in between is younger, though it came first."""
    first, second, third = (connection(name) for name in "abc")
    assert places.admit(first) is None
    assert places.admit(second) is None
    assert places.turn_to(first, Stage.WORKING)
    assert places.turn_to(first, Stage.IDLE)
    assert places.admit(third) is second
    assert second.gave_way
    assert places.all() == (first, third)


def test_one_whose_request_is_arriving_gives_way_only_if_none_is_idle(places):
    """However long the other has been idle."""
    slow, idle, third, fourth = (connection(name) for name in "abcd")
    places.admit(slow)
    places.turn_to(slow, Stage.RECEIVING)
    places.admit(idle)
    assert places.admit(third) is idle
    places.turn_to(third, Stage.RECEIVING)
    assert places.admit(fourth) is slow


def test_one_that_gave_way_begins_nothing_more(places):
    """Its thread may be about to."""
    first = connection("a")
    places.admit(first)
    assert places.make_way() is first
    assert not places.turn_to(first, Stage.WORKING)
    assert places.make_way() is None


def test_no_place_is_taken_from_a_request_that_is_being_answered(places):
    """The third one has to be refused."""
    for name in "ab":
        working = connection(name)
        places.admit(working)
        places.turn_to(working, Stage.WORKING)
    with pytest.raises(NoPlaceError, match="all 2 connections are being answered"):
        places.admit(connection("c"))
    places.leave(working)
    places.leave(working)
    assert places.admit(connection("d")) is None


def test_nothing_begins_once_it_is_closed(places):
    """The server ends."""
    first = connection("a")
    places.admit(first)
    places.closed = True
    assert not places.turn_to(first, Stage.RECEIVING)
