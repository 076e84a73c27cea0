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
