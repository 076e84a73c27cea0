"""Ctrl-C while Spark works: it ends the call at once, without the traces that Spark's libraries log."""

from __future__ import annotations

import logging
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def own_interrupt() -> Iterator[Callable[[], None]]:
    """Keep py4j silent about calls that SIGINT ends inside the block.

    Yields:
        Puts SIGINT's handler back to what it was before the block; to be called when a session has started.
        PySpark installs one that asks the JVM to cancel all jobs, over the connection that waits for an
        answer already: that fails, and is told at length. Stopping the session cancels them as well.
    """
    before = signal.getsignal(signal.SIGINT)

    def put_back() -> None:
        # only the main thread may set it, and only there PySpark does
        if signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)

    root = logging.getLogger()  # the one that py4j uses
    root.addFilter(_tells_no_interrupt)
    try:
        yield put_back
    finally:
        root.removeFilter(_tells_no_interrupt)


def _tells_no_interrupt(record: logging.LogRecord) -> bool:
    return record.exc_info is None or record.exc_info[0] is not KeyboardInterrupt
