"""Warnings that clients can cause as often as they like: the log has few lines, each with the count."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.log import Log

_FACTOR = 10
AT_LEAST_EVERY_S = 3600.0
"""One that goes on is logged as often, however frequent it is."""
FORGOTTEN_AFTER_S = 600.0
"""One that did not come for so long is counted anew."""


@dataclass
class _Repeated:
    """How often an event came since it began, when it came last and was logged last, and the next count."""

    count: int
    last_s: float
    logged_s: float
    next_count: int


class RepeatLog:
    """Logs the first of many warnings of one event, the tenth, the hundredth and so on, and one per hour.

    Args:
        log: Takes the lines.
        clock: Monotonic seconds.
    """

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._repeated: dict[str, _Repeated] = {}

    def warning(self, event: str, **fields: Any) -> None:
        """Log a warning, or count it alone.

        Args:
            event: What happened; warnings of one event are counted together, whatever their fields.
            fields: What the line says of the last of them, beside `count`, their number so far.
        """
        now_s = self._clock()
        with self._lock:
            seen = self._repeated.get(event)
            if seen is None or now_s - seen.last_s > FORGOTTEN_AFTER_S:
                seen = self._repeated[event] = _Repeated(0, now_s, now_s, 1)
            seen.count += 1
            seen.last_s = now_s
            if seen.count < seen.next_count and now_s - seen.logged_s < AT_LEAST_EVERY_S:
                return
            seen.logged_s = now_s
            while seen.next_count <= seen.count:
                seen.next_count *= _FACTOR
            count = seen.count
        self._log.warning(event, **fields, count=count)
