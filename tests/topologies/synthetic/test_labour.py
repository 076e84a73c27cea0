"""Work takes the time that was asked, and tuples have the size that was asked."""

from __future__ import annotations

import time

import pytest

from topologies.synthetic.labour import labour, padding, size_of
from topologies.synthetic.workload import Work


def test_busy_work_takes_time_of_a_processor() -> None:
    """Time in which others had the processor does not count."""
    before_ns = time.thread_time_ns()
    labour(Work.BUSY, 5.0)()
    assert time.thread_time_ns() - before_ns >= 5_000_000


def test_waiting_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes none of the processor; no work does not even sleep."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    labour(Work.WAIT, 5.0)()
    labour(Work.WAIT, 0.0)()
    assert slept == [0.005]


@pytest.mark.parametrize(
    ("number", "trail", "asked", "size"), [(7, "1 2", 100.0, 100), (10, "1 2 3", 4.0, 7)]
)
def test_tuples_are_filled_up(number: int, trail: str, asked: float, size: int) -> None:
    """To the bytes that were asked; where number and trail are more, nothing is added."""
    assert size_of(number, trail, padding(number, trail, asked)) == size
