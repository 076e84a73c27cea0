"""Work and time together."""

from __future__ import annotations

from scheduler.base.deadline import Deadline
from scheduler.base.work import Work


def test_a_search_ends_when_more_than_the_limit_is_done() -> None:
    """Not before, and with the reason."""
    work = Work(Deadline(lambda: 0.0, at=1.0), 3)
    work.add(3)
    assert not work.over()
    work.add(1)
    assert work.over()
    assert work.reason() == "the limit of work ended the search"


def test_the_deadline_ends_it_too() -> None:
    """With its own reason."""
    work = Work(Deadline(lambda: 1.0, at=1.0), 3)
    assert work.over()
    assert work.reason() == "the deadline ended the search"
