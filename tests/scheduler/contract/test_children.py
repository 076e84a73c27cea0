"""Work that runs inline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable


def count(to: int, _deadline: Deadline, send: Callable[[int], None]) -> None:
    for each in range(to):
        send(each)


def test_inline_work_has_ended_when_it_starts_and_answers_once() -> None:
    """Every message is there after `start`, in order, and is returned once."""
    job = INLINE.start(count, 3, Deadline.none())
    assert job.ended
    assert job.wait(0.0)
    assert job.failure is None
    assert job.messages() == [0, 1, 2]
    assert job.messages() == []
    job.stop()
