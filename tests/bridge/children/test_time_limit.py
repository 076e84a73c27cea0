"""A search is held to its time, and the record learns whether the clock had a say."""

from __future__ import annotations

import pytest

from bridge.children.time_limit import TimeLimit
from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Sleeper:
    """A child that never says a word; waiting for it takes the time on the clock that it should."""

    def __init__(self, clock):
        self._clock = clock
        self.deadline = None
        self.ended = False
        self.failure = None

    def start(self, _work, _argument, deadline):
        self.deadline = deadline
        return self

    def messages(self):
        return []

    def wait(self, seconds):
        self._clock.now += seconds
        return self.ended

    def stop(self):
        self.ended, self.failure = True, "it was stopped"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def limit(clock):
    return TimeLimit(Deadline(clock, 10.0), INLINE)


def test_a_search_that_ended_in_time_was_not_cut(clock, limit):
    """Asking whether time is over, and it is not, changes nothing."""
    assert not limit.deadline.expired()
    clock.now = 20.0
    assert not limit.cut


def test_seeing_the_deadline_expired_is_a_cut(clock, limit):
    """The search may have stopped for it."""
    clock.now = 10.0
    assert limit.deadline.expired()
    assert limit.cut


def test_a_sooner_deadline_counts_too(clock, limit):
    """A part of the search may have stopped for it."""
    part = limit.deadline.within(3.0)
    clock.now = 5.0
    assert part.expired()
    assert limit.cut


def test_a_limit_that_was_handed_on_is_a_cut_once_it_has_passed(clock, limit):
    """A solver was given a limit."""
    assert limit.deadline.within(3.0).remaining() == 3.0
    assert not limit.cut
    clock.now = 4.0
    assert limit.cut


def test_without_a_limit_nothing_is_ever_cut():
    """Such a search ends by itself."""
    limit = TimeLimit(Deadline.none(), INLINE)
    assert limit.deadline.within(1.0).unlimited
    assert not limit.deadline.expired()
    assert not limit.cut


def test_a_child_is_killed_at_the_deadline_however_long_its_owner_would_wait(clock):
    """And the wait for it ends then."""
    sleeper = Sleeper(clock)
    limit = TimeLimit(Deadline(clock, 10.0), sleeper)
    job = limit.children.start(print, None, limit.deadline)
    assert not job.wait(3.0)
    assert job.wait(1000.0)
    assert sleeper.ended
    assert clock.now == pytest.approx(10.0, abs=0.1)
    assert limit.cut


def test_a_child_gets_a_little_less_time_so_that_its_answer_comes_in_time(clock):
    """A twentieth less, and a sooner deadline as it is."""
    sleeper = Sleeper(clock)
    limit = TimeLimit(Deadline(clock, 2.0), sleeper)
    limit.children.start(print, None, limit.deadline)
    assert sleeper.deadline.remaining() == pytest.approx(1.9)
    limit.children.start(print, None, limit.deadline.within(1.0))
    assert sleeper.deadline.remaining() == pytest.approx(1.0)


def test_the_loss_of_a_child_is_a_cut_but_not_its_end_by_the_owner(clock):
    """A repetition may keep the child."""
    for lost in (True, False):
        sleeper = Sleeper(clock)
        limit = TimeLimit(Deadline(clock, 1e9), sleeper)
        job = limit.children.start(print, None, Deadline.none())
        if lost:
            sleeper.ended, sleeper.failure = True, "its process was killed"
        else:
            job.stop()
        assert job.messages() == []
        assert limit.cut is lost
