"""Ctrl-C while Spark works: it ends Spark at once, without the traces that Spark's libraries log."""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark import SparkContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDING_S = 10.0


@contextmanager
def postponed_endings() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP wait for the end of the block, if what they do is Python's to decide."""
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    caught: list[tuple[int, FrameType | None]] = []
    handled = [number for number, handler in before.items() if callable(handler)]

    def keep(number: int, frame: FrameType | None) -> None:
        caught.append((number, frame))

    try:
        _set_handlers(dict.fromkeys(handled, keep))
        yield
    finally:
        _set_handlers({number: before[number] for number in handled})
    for number, frame in caught[:1]:
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)


@contextmanager
def jvm_ends_with_interrupt() -> Iterator[None]:
    """End the JVM, and all of its work, when the block ends by `KeyboardInterrupt`.

    One of its answers may be half read then, so that it can be asked for nothing more, not even to stop.
    """
    try:
        yield
    except KeyboardInterrupt:
        context = SparkContext._active_spark_context
        if context is not None:  # tells at length that a connection of the JVM's broke off
            context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
        process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
        if process is not None:
            process.terminate()
            try:
                process.wait(_ENDING_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        raise


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


def _set_handlers(
    handlers: Mapping[signal.Signals, Callable[[int, FrameType | None], object] | int | None],
) -> None:
    # nobody else than the main thread may, and no other one is ended by them
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler)
