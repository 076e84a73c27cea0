"""Rules of deadlines."""

from __future__ import annotations

import pytest

from monitoring.agent.timetable import Timetable


class Job:
    """Something to do every so often."""

    def __init__(self, period_s: float) -> None:
        self.period_s = period_s
        self.done_s: list[float] = []

    def __call__(self, now_s: float) -> float:
        self.done_s.append(now_s)
        return self.period_s


def test_each_job_comes_at_its_own_pace() -> None:
    slow, quick = Job(60.0), Job(25.0)
    timetable = Timetable(0.0, (slow, quick))
    now_s = 0.0
    while now_s <= 130.0:
        now_s = timetable.turn(now_s)
    assert slow.done_s == [0.0, 60.0, 120.0]
    assert quick.done_s == [0.0, 25.0, 50.0, 75.0, 100.0, 125.0]


def test_a_turn_that_comes_too_early_does_nothing_and_says_when_to_come() -> None:
    job = Job(5.0)
    timetable = Timetable(10.0, (job,))
    assert timetable.turn(9.0) == 10.0
    assert timetable.turn(10.0) == 15.0
    assert timetable.turn(14.9) == 15.0
    assert job.done_s == [10.0]


@pytest.mark.parametrize("late_s", [15.0, 100.0])
def test_a_late_job_is_done_once_and_then_at_its_pace(late_s: float) -> None:
    job = Job(5.0)
    timetable = Timetable(0.0, (job,))
    timetable.turn(0.0)
    assert timetable.turn(late_s) == late_s + 5.0
    assert job.done_s == [0.0, late_s]
