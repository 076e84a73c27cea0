"""Work and time together."""

from __future__ import annotations

from scheduler.base.deadline import Deadline
from scheduler.base.work import Iterations, Work

SOON = Deadline(lambda: 0.0, at=1.0)
EXPIRED = Deadline(lambda: 1.0, at=1.0)


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


def test_patience_counts_iterations_in_a_row() -> None:
    """A better placement begins the count anew."""
    idle = Iterations(SOON, 2, "steps")
    for improved in (False, True, False):
        idle.note(improved=improved)
    assert idle.reason() is None
    idle.note(improved=False)
    assert idle.reason() == "2 steps without a better placement ended the search"


def test_without_patience_only_the_deadline_ends_iterations() -> None:
    """However many bring nothing; without a deadline either there is one."""
    timed, endless = Iterations(SOON, None), Iterations(Deadline.none(), None)
    for _ in range(1000):
        timed.note(improved=False)
    assert timed.reason() is None
    assert endless.reason() is None
    endless.note(improved=True)
    assert endless.reason() == "the limit of work ended the search"


def test_patience_comes_before_the_deadline() -> None:
    """A search that is over by itself says so."""
    stop = Iterations(EXPIRED, 1)
    assert stop.reason() == "the deadline ended the search"
    stop.note(improved=False)
    assert stop.reason() == "1 iterations without a better placement ended the search"
