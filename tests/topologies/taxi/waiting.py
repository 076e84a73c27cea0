"""Waiting for what other threads do."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 20.0


def until(done: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S
    pause = threading.Event()
    while not done():
        assert time.monotonic() < end_s
        pause.wait(0.005)
