"""An operator's work on one tuple, and the padding that gives a tuple its size."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topologies.synthetic.workload import Work

if TYPE_CHECKING:
    from collections.abc import Callable


def labour(work: Work, work_ms: float) -> Callable[[], None]:
    """Return a function that takes the time of one tuple."""
    if work_ms == 0.0:
        return lambda: None
    if work is Work.WAIT:
        return lambda: time.sleep(work_ms / 1e3)
    return lambda: _burn(round(work_ms * 1e6))


def padding(number: int, trail: str, tuple_bytes: float) -> str:
    """Return what fills a tuple up to its size; nothing if number and trail are larger already."""
    return "." * (round(tuple_bytes) - size_of(number, trail, ""))


def size_of(number: int, trail: str, load: str) -> int:
    """Return the bytes of a tuple's values, the number in digits; they are ASCII."""
    return len(str(number)) + len(trail) + len(load)


def _burn(time_ns: int) -> None:
    """Take time of a processor: while others have it, none of it passes."""
    end_ns = time.thread_time_ns() + time_ns
    while time.thread_time_ns() < end_ns:
        pass
