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

    Handler = Callable[[int, FrameType | None], object] | int | None

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDING_S = 10.0
_PY4J_LOGGERS = ("root", "py4j.java_gateway", "py4j.clientserver")


@contextmanager
def postponed_endings() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP wait for the end of the block, if what they do is Python's to decide."""
    before = _own_handlers()
    caught: list[tuple[int, FrameType | None]] = []

    def keep(number: int, frame: FrameType | None) -> None:
        caught.append((number, frame))

    try:
        _set_handlers(dict.fromkeys(before, keep))
        yield
    finally:
        _set_handlers(before)
    for number, frame in caught[:1]:
        before[signal.Signals(number)](number, frame)


@contextmanager
def own_interrupt() -> Iterator[Callable[[], None]]:
    """Let SIGINT, SIGTERM and SIGHUP end the JVM first, and then do what they did before the block.

    The work has ended then when the caller clears away what it wrote. The JVM cannot be asked to end: the
    connection may wait for an answer already, which PySpark's own handler of SIGINT overlooks.

    Yields:
        Puts the handlers in place; to be called when a session has started, as PySpark then has set its own.

    Raises:
        KeyboardInterrupt: The block was ended by it, or by an error of a library that came across it.
    """
    before = _own_handlers()

    ending = threading.Event()  # its connections break before the JVM is seen to have ended

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()
        _end_jvm()
        before[signal.Signals(number)](number, frame)

    def tells_no_interrupt(record: logging.LogRecord) -> bool:
        return not (record.exc_info and ending.is_set()) and _tells_no_interrupt(record)

    loggers = [logging.getLogger(name) for name in _PY4J_LOGGERS]
    for logger in loggers:
        logger.addFilter(tells_no_interrupt)
    try:
        yield lambda: _set_handlers(dict.fromkeys(before, end))
    except BaseException as error:
        if not _interrupted(error):
            raise
        _end_jvm()
        raise KeyboardInterrupt from None
    finally:
        _set_handlers(before)
        for logger in loggers:
            logger.removeFilter(tells_no_interrupt)


def jvm_ended() -> bool:
    """Return whether there was a JVM that is no more."""
    process = _jvm()
    return process is not None and process.poll() is not None


def _jvm() -> subprocess.Popen[bytes] | None:
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process


def _end_jvm() -> None:
    process = _jvm()
    if process is None:
        return
    context = SparkContext._active_spark_context
    if context is not None:  # logs at length that a connection of the JVM's broke off
        context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    process.terminate()
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _interrupted(error: BaseException | None) -> bool:
    """Return whether an error is `KeyboardInterrupt`, or came up while one was on its way."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _own_handlers() -> dict[signal.Signals, Callable[[int, FrameType | None], object]]:
    """Return the handlers that are Python's; a signal that is ignored or ends the process has none."""
    handlers = {number: signal.getsignal(number) for number in _ENDINGS}
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _set_handlers(handlers: Mapping[signal.Signals, Handler]) -> None:
    # only the main thread may, and no other one is ended by them
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _tells_no_interrupt(record: logging.LogRecord) -> bool:
    return not (record.exc_info and (_interrupted(record.exc_info[1]) or jvm_ended()))
