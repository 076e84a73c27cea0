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
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
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
def _caught(numbers: Iterable[int], catch: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let some signals be caught inside the block; one that was ignored before, as by `nohup`, stays so."""
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, catch)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def all_as_ctrl_c() -> AbstractContextManager[None]:
    """Let SIGTERM and SIGHUP raise `KeyboardInterrupt` inside the block, as SIGINT does, unless ignored."""
    return _caught(_ENDINGS, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # a terminal that is closed may say so twice: the second must not break off the cleaning up
    for number in _ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


class Interrupt:
    """Catches the first signal inside its block; the next one raises `KeyboardInterrupt`.

    Args:
        every_ending: Whether SIGTERM and SIGHUP are caught as well as SIGINT.
        repeatedly: Whether the next ones are caught, too: to wait for a child that gets them itself.

    Attributes:
        happened: Whether there was one.
    """

    def __init__(self, *, every_ending: bool = False, repeatedly: bool = False) -> None:
        self.happened = False
        self._repeatedly = repeatedly
        self._block = _caught((signal.SIGINT, *_ENDINGS) if every_ending else (signal.SIGINT,), self._catch)

    def __enter__(self) -> Interrupt:
        self._block.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._block.__exit__(kind, error, trace)

    def clock(self) -> float:
        """Return monotonic seconds; infinitely many after an interrupt: every deadline has expired then."""
        return math.inf if self.happened else time.monotonic()

    def _catch(self, _number: int, _frame: FrameType | None) -> None:
        if self.happened and not self._repeatedly:
            raise KeyboardInterrupt
        self.happened = True
