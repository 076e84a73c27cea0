"""The window is half open and moves with event time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.taxi.window import RouteCount, SlidingWindow


def test_a_trip_exactly_as_old_as_the_window_is_out() -> None:
    """One second less and it is in."""
    window = SlidingWindow(length_s=1_800)
    window.advance(100)
    window.add("a", 1)
    window.take_changes()
    window.advance(1_899)
    assert window.take_changes() == []
    window.advance(1_900)
    assert window.take_changes() == [RouteCount("a", 0, 0)]


def test_the_freshest_trip_survives_the_loss_of_an_older_one() -> None:
    """After a loss the count falls, the freshest number stays."""
    window = SlidingWindow(length_s=10)
    for time_s, sequence in ((0, 1), (5, 2)):
        window.advance(time_s)
        window.add("a", sequence)
    window.take_changes()
    window.advance(12)
    assert window.take_changes() == [RouteCount("a", 1, 2)]


def test_time_does_not_go_back() -> None:
    """A clock that goes back is refused, as expired trips cannot come back."""
    window = SlidingWindow()
    window.advance(10)
    with pytest.raises(ValueError, match="goes back from 10 s to 9 s"):
        window.advance(9)


def test_a_window_goes_on_at_the_clock_of_its_begin() -> None:
    """A row at the clock's own time needs no step before it."""
    window = SlidingWindow(100)
    window.add("a", 7)
    assert (window.now_s, window.take_changes()) == (100, [RouteCount("a", 1, 7)])
    with pytest.raises(ValueError, match="goes back from 100 s to 99 s"):
        window.advance(99)


def test_a_trip_needs_a_time() -> None:
    """Adding before the first advance is refused."""
    with pytest.raises(ValueError, match="advance"):
        SlidingWindow().add("a", 1)


@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from("abc")), max_size=60))
def test_changes_add_up_to_a_recount(trips: list[tuple[int, str]]) -> None:
    """Applying all changes gives what counting the window anew gives, at every row."""
    window = SlidingWindow(length_s=10)
    now_s, past, seen = 0, [], {}
    for sequence, (step_s, route) in enumerate(trips, start=1):
        now_s += step_s
        past.append((now_s, route, sequence))
        window.advance(now_s)
        window.add(route, sequence)
        for changed, count, freshest in window.take_changes():
            seen[changed] = (count, freshest)
            if not count:
                del seen[changed]
        inside = [(each, number) for time_s, each, number in past if now_s - time_s < 10]
        assert seen == {
            each: (
                sum(other == each for other, _ in inside),
                max(number for other, number in inside if other == each),
            )
            for each in {each for each, _ in inside}
        }
