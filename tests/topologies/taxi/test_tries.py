"""How long the source waits for an epoch: by what it costs, and by how long nothing has moved."""

from __future__ import annotations

import pytest

from topologies.taxi.tries import MOST_WAIT_S, Tries


def test_an_epoch_in_full_waits_twice_as_long_each_time() -> None:
    """Up to a minute; a row that gets further ends that."""
    tries = Tries(0.0)
    waits = []
    for _ in range(6):
        waits.append(tries.wait_s(5.0, 1e6, in_full=True))
        tries.add(in_full=True)
    assert waits == [5.0, 10.0, 20.0, 40.0, MOST_WAIT_S, MOST_WAIT_S]
    tries.further(1e6)
    assert tries.wait_s(5.0, 1e6, in_full=True) == 5.0


def test_a_row_alone_waits_for_a_tenth_of_the_time_that_nothing_has_moved_for() -> None:
    """However many have been tried, and it makes the wait of an epoch in full no longer."""
    tries = Tries(100.0)
    for _ in range(30):
        tries.add(in_full=False)
    waits = [tries.wait_s(2.0, now_s, in_full=False) for now_s in (100.0, 110.0, 150.0, 10_000.0)]
    assert waits == [2.0, 2.0, 5.0, MOST_WAIT_S]
    assert tries.wait_s(5.0, 150.0, in_full=True) == 5.0


def test_a_quiet_time_is_no_outage() -> None:
    """Time counts from when rows are under way, unless an epoch was given up since."""
    tries = Tries(0.0)
    tries.under_way(500.0)
    assert tries.stuck_s(510.0) == 10.0
    tries.add(in_full=False)
    tries.under_way(520.0)
    assert tries.stuck_s(530.0) == 30.0


@pytest.mark.parametrize("shortest_s", [90.0, 300.0])
def test_a_wait_that_begins_above_a_minute_stays(shortest_s: float) -> None:
    """A user's stall time is never undercut."""
    tries = Tries(0.0)
    tries.add(in_full=True)
    assert tries.wait_s(shortest_s, 10.0, in_full=True) == shortest_s


def test_epoch_numbers_leap_further_the_longer_nothing_moves() -> None:
    """Not at the first try; never beyond twelve days."""
    tries = Tries(0.0)
    assert tries.leap_ms(60.0) == 0
    tries.add(in_full=False)
    assert [tries.leap_ms(now_s) for now_s in (5.0, 50.0, 1e6)] == [1_000, 100_000, 10**9]


def test_a_fault_that_lasts_is_reported_ever_more_rarely() -> None:
    """Each time that the number of tries has doubled."""
    tries = Tries(0.0)
    reported = []
    for _ in range(20):
        if tries.take_report():
            reported.append(tries.count)
        tries.add(in_full=False)
    assert reported == [0, 1, 2, 4, 8, 16]


def test_a_fault_that_is_reported_late_is_reported_at_once() -> None:
    """However many tries were in vain before, as while workers were starting."""
    tries = Tries(0.0)
    for _ in range(17):
        tries.add(in_full=False)
    assert tries.take_report()
    assert not tries.take_report()
