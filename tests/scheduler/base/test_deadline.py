from __future__ import annotations

import math
from itertools import count

from scheduler.base.deadline import Deadline


def test_a_deadline_expires_at_its_moment_on_the_given_clock() -> None:
    """The clock is the caller's; the moment itself counts as late."""
    deadline = Deadline(clock=count(start=1).__next__, at=3)

    assert [deadline.expired() for _ in range(4)] == [False, False, True, True]


def test_no_deadline_never_expires() -> None:
    """Without a limit a strategy runs to its own end."""
    assert not Deadline.none().expired()


def test_what_remains_is_counted_on_the_clock_and_never_negative() -> None:
    """Ten seconds at first, none after the moment, for ever without one."""
    now = [0.0]
    deadline = Deadline(lambda: now[0], 10.0)
    assert deadline.remaining() == 10.0
    now[0] = 11.0
    assert deadline.remaining() == 0.0
    assert Deadline.none().remaining() == math.inf


def test_a_deadline_within_some_seconds_is_the_sooner_one() -> None:
    """Never later than the deadline itself; without one there is no clock to count on."""
    deadline = Deadline(lambda: 5.0, 10.0)
    assert deadline.within(2.0).at == 7.0
    assert deadline.within(9.0).at == 10.0
    assert Deadline.none().within(1.0).unlimited


def test_a_share_of_the_time_is_counted_from_now() -> None:
    """A quarter of the twelve seconds that are left; all of an unlimited time."""
    assert Deadline(lambda: 8.0, 20.0).share(0.25).at == 11.0
    assert Deadline.none().share(0.25).unlimited


def test_a_limit_of_work_counts_only_where_no_deadline_comes() -> None:
    """Otherwise the deadline ends what takes too long."""
    assert Deadline.none().otherwise(7) == 7
    assert Deadline(lambda: 0.0, 1.0).otherwise(7) == math.inf


def test_a_deadline_can_be_cancelled_with_all_sooner_ones_made_from_it() -> None:
    """Whether or not it would ever come; the one it was made from goes on."""
    cancelled = [False]
    for deadline in (Deadline(lambda: 0.0, 10.0), Deadline.none()):
        cancelled[0] = False
        other = deadline.or_when(lambda: cancelled[0])
        part = other.within(5.0).share(0.5)
        assert not other.expired()
        assert not part.expired()
        cancelled[0] = True
        assert other.expired()
        assert part.expired()
        assert not deadline.expired()


def test_a_cancellable_deadline_still_comes() -> None:
    """Its moment is the same."""
    assert Deadline(lambda: 10.0, 10.0).or_when(lambda: False).expired()
