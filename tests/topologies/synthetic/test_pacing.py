"""Sources emit by the clock: evenly, as many as asked, and nothing that is far too late."""

from __future__ import annotations

import pytest

from topologies.synthetic.pacing import PacedStream, Pacer

ONE = (PacedStream(stream=4, rate=10.0, warm_up=2, measured=5),)


def emitted(pacer: Pacer, now_s: float) -> list[tuple[int, int]]:
    """All tuples that are due now."""
    found = []
    while (due := pacer.take(now_s)) is not None:
        found.append(due)
    return found


def test_numbers_of_measured_tuples_begin_with_one() -> None:
    """The warm-up has numbers up to 0, and after the last measured tuple nothing is left."""
    pacer = Pacer(ONE, start_s=100.0, backlog_s=10.0)
    assert emitted(pacer, 100.0) == [(4, -1)]
    assert emitted(pacer, 100.25) == [(4, 0), (4, 1)]
    assert not pacer.done
    assert emitted(pacer, 109.0) == [(4, 2), (4, 3), (4, 4), (4, 5)]
    assert pacer.done
    assert pacer.skipped == 0


def test_it_says_how_long_to_wait() -> None:
    """The time to the next tuple; none when one is due or nothing is left."""
    pacer = Pacer(ONE, start_s=100.0, backlog_s=10.0)
    assert pacer.wait_s(99.5) == pytest.approx(0.5)
    emitted(pacer, 100.0)
    assert pacer.wait_s(100.03) == pytest.approx(0.07)
    emitted(pacer, 105.0)
    assert pacer.wait_s(106.0) == 0.0


def test_streams_take_turns() -> None:
    """Streams of equal rate do not emit at once but evenly in time, each at its rate."""
    pacer = Pacer(tuple(PacedStream(k, 10.0, 0, 10) for k in range(4)), start_s=0.0, backlog_s=10.0)
    moments = [emitted(pacer, step / 40.0 + 1e-9) for step in range(40)]
    assert [[stream for stream, _ in each] for each in moments] == [[step % 4] for step in range(40)]


def test_what_is_far_too_late_is_skipped_and_counted() -> None:
    """After a pause only the backlog is made up for; gaps in the numbers show what is missing."""
    pacer = Pacer((PacedStream(0, 64.0, 100, 1_000),), start_s=0.0, backlog_s=0.5)
    assert emitted(pacer, 0.0) == [(0, -99)]
    late = emitted(pacer, 3.0)
    assert late[0] == (0, 61)
    assert late[-1] == (0, 93)
    assert pacer.skipped == 159
    assert pacer.skipped_measured == 60


def test_the_last_tuples_can_be_skipped_too() -> None:
    """A source that sleeps past the end of its plan has nothing left, and has counted all."""
    pacer = Pacer(ONE, start_s=0.0, backlog_s=1.0)
    assert emitted(pacer, 60.0) == []
    assert pacer.done
    assert (pacer.skipped, pacer.skipped_measured) == (7, 5)
