"""The moment, as all components write it."""

from __future__ import annotations

import time


def now_us() -> int:
    """Return the time as unix microseconds."""
    return time.time_ns() // 1_000
