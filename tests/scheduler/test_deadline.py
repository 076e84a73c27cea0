from __future__ import annotations

from itertools import count

from scheduler.deadline import Deadline


def test_a_deadline_expires_at_its_moment_on_the_given_clock() -> None:
    """The clock is the caller's; the moment itself counts as late."""
    deadline = Deadline(clock=count(start=1).__next__, at=3)

    assert [deadline.expired() for _ in range(4)] == [False, False, True, True]


def test_no_deadline_never_expires() -> None:
    """Without a limit a strategy runs to its own end."""
    assert not Deadline.none().expired()
