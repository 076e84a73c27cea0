"""Ctrl-C without a trace: as the end of a deadline, so that a search ends with what it has, or at once.

And other ways to end a program that are to clean up as Ctrl-C does.
"""

from __future__ import annotations

import math
import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

INTERRUPTED_STATUS = 130
"""As a shell has it for a program that SIGINT ended."""

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Let SIGINT end this process inside the block, without a word.

    For loading modules: some swallow a `KeyboardInterrupt` and print its trace instead. Nothing is cleaned
    up, so that the block must hold nothing that has to be.
    """
    before = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED_STATUS)


@contextmanager
def all_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise `KeyboardInterrupt` inside the block, as SIGINT does.

    One that was ignored before, as `nohup` has it, stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # a terminal that is closed may say so twice: the second must not break off the cleaning up
    for number in _ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


class Interrupt:
    """Catches the first signal inside its block; the next one raises `KeyboardInterrupt`.

    One that was ignored before, as `nohup` has it, stays ignored.

    Args:
        every_ending: Whether SIGTERM and SIGHUP are caught as well as SIGINT.

    Attributes:
        happened: Whether there was one.
    """

    def __init__(self, *, every_ending: bool = False) -> None:
        self.happened = False
        self._numbers = (signal.SIGINT, *_ENDINGS) if every_ending else (signal.SIGINT,)

    def __enter__(self) -> Interrupt:
        self._before = {number: signal.getsignal(number) for number in self._numbers}
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._catch)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def clock(self) -> float:
        """Return monotonic seconds; infinitely many after an interrupt: every deadline has expired then."""
        return math.inf if self.happened else time.monotonic()

    def _catch(self, _number: int, _frame: FrameType | None) -> None:
        if self.happened:
            raise KeyboardInterrupt
        self.happened = True
