"""Rules of the table of probes under way."""

from __future__ import annotations

import math

from monitoring.agent.pending import PendingProbes, Sent


def test_an_answer_finds_its_probe_once() -> None:
    pending = PendingProbes()
    pending.add(7, Sent("a", 1.0))
    assert pending.take(8, 1.5) is None
    assert pending.take(7, 1.5) == Sent("a", 1.0)
    assert pending.take(7, 1.5) is None


def test_a_probe_is_lost_when_its_time_is_over_and_then_its_answer_is_too_late() -> None:
    pending = PendingProbes(timeout_s=3.0)
    pending.add(1, Sent("a", 0.0))
    pending.add(2, Sent("b", 2.0))
    assert pending.expire(2.9) == ()
    assert pending.expire(3.0) == (Sent("a", 0.0),)
    assert pending.take(1, 3.0) is None
    assert len(pending) == 1


def test_an_answer_that_is_read_too_late_is_none_and_leaves_its_probe_to_be_lost() -> None:
    pending = PendingProbes(timeout_s=3.0)
    pending.add(1, Sent("a", 0.0))
    assert pending.take(1, 3.0) is None
    assert pending.take(1, 60.0) is None
    assert 1 in pending
    assert pending.expire(60.0) == (Sent("a", 0.0),)


def test_the_table_says_when_a_probe_is_lost_next() -> None:
    pending = PendingProbes(timeout_s=3.0)
    assert pending.due_s() == math.inf
    pending.add(1, Sent("a", 0.1))
    pending.add(2, Sent("b", 2.0))
    assert pending.due_s() == 3.1
    assert pending.expire(pending.due_s()) == (Sent("a", 0.1),)
    assert pending.due_s() == 5.0


def test_a_full_table_gives_up_the_oldest_probe() -> None:
    pending = PendingProbes(capacity=2)
    assert pending.add(1, Sent("a", 0.0)) == ()
    assert pending.add(2, Sent("b", 0.1)) == ()
    assert pending.add(3, Sent("c", 0.2)) == (Sent("a", 0.0),)
    assert len(pending) == 2
