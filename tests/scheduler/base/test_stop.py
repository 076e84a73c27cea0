"""Criteria that end a search."""

from __future__ import annotations

from scheduler.base.deadline import Deadline
from scheduler.base.stop import AnyOf, Iterations, NoImprovement, WorkLimit

SOON = Deadline(lambda: 0.0, at=1.0)
EXPIRED = Deadline(lambda: 1.0, at=1.0)


def test_a_limit_of_work_ends_a_search_when_that_much_is_done() -> None:
    """Not before."""
    limit = WorkLimit(3, "swaps")
    limit.add(2)
    assert limit.reason() is None
    limit.add(2)
    assert limit.reason() == "4 swaps ended the search"


def test_patience_counts_iterations_in_a_row() -> None:
    """A better placement begins the count anew."""
    idle = NoImprovement(2, "steps")
    for improved in (False, True, False):
        idle.note(improved=improved)
    assert idle.reason() is None
    idle.note(improved=False)
    assert idle.reason() == "2 steps without a better placement ended the search"


def test_the_first_criterion_that_ends_a_search_gives_the_reason() -> None:
    """In their order; none while all of them let it go on."""
    limit = WorkLimit(0, "swaps")

    assert AnyOf(SOON, WorkLimit(1, "swaps")).reason() is None
    assert AnyOf(SOON, EXPIRED, limit).reason() == "the deadline ended the search"
    assert AnyOf(limit, EXPIRED).reason() == "0 swaps ended the search"


def test_without_patience_only_the_deadline_ends_iterations() -> None:
    """However many bring nothing; without a deadline either there is one."""
    timed, endless = Iterations(SOON, None), Iterations(Deadline.none(), None)
    for _ in range(1000):
        timed.note(improved=False)
    assert timed.reason() is None
    assert endless.reason() is None
    endless.note(improved=True)
    assert endless.reason() == "1 iterations ended the search"


def test_patience_comes_before_the_deadline() -> None:
    """A search that is over by itself says so."""
    stop = Iterations(EXPIRED, 1)
    assert stop.reason() == "the deadline ended the search"
    stop.note(improved=False)
    assert stop.reason() == "1 iterations without a better placement ended the search"
