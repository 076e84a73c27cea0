"""A call that may hang in ways that have no limit of their own, such as a look-up of a name."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def bounded(call: Callable[[], T], limit_s: float) -> T:
    """Return what a call returns, or raise what it raises; one that hangs is left behind.

    Raises:
        TimeoutError: It did not end within the limit.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    # a thread of a pool would keep the process from ending
    Thread(target=run, daemon=True).start()
    return future.result(limit_s)
