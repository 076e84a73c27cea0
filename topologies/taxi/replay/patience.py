"""Waits for a Redis that is away or full, without forgetting what was to be written."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import BusyLoadingError, OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from topologies.taxi.replay.errors import FeedError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_AWAY = (RedisConnectionError, RedisTimeoutError, BusyLoadingError, ReadOnlyError)
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0


class Patience:
    """Does something in Redis until it is done.

    Args:
        timeout_s: How long Redis may be away or refuse to take more.
        report: Called with a few words on what is waited for, before each pause.
        stopped: Whether the user has asked for the end.
        relieve: Called before another try when Redis is full, to make room if there is a way.
    """

    def __init__(
        self,
        timeout_s: float,
        report: Callable[[str], None],
        stopped: Callable[[], bool],
        relieve: Callable[[], None],
    ) -> None:
        self._timeout_s = timeout_s
        self._report = report
        self._stopped = stopped
        self._relieve = relieve

    def insist(self, action: Callable[[], T]) -> T:
        """Return what the action returns, which must do no harm when it is done twice.

        Raises:
            FeedError: Redis was away or full for too long.
            StoppedError: The user has asked for the end meanwhile.
            RedisError: Redis refuses for another reason.
        """
        since_s = time.monotonic()
        pause_s = _FIRST_PAUSE_S
        full = False
        while True:
            try:
                if full:
                    self._relieve()
                return action()
            except RedisError as error:
                full = _is_full(error)
                why = _reason(error)
            if time.monotonic() - since_s > self._timeout_s:
                msg = f"{why}, for {self._timeout_s:g} s now; nothing is lost: `taxi replay --resume` goes on"
                raise FeedError(msg)
            if self._stopped():
                raise StoppedError
            self._report(why)
            time.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, 2 * pause_s)


def _is_full(error: RedisError) -> bool:
    # from within a script the text alone says so, on older servers
    return isinstance(error, OutOfMemoryError) or (isinstance(error, ResponseError) and "OOM " in str(error))


def _reason(error: RedisError) -> str:
    """Return what is to be waited for; any other error is raised again."""
    if isinstance(error, _AWAY):
        return f"Redis is away ({' '.join(str(error).split())})"
    if _is_full(error):
        return "REDIS IS FULL (its maxmemory is used up)"
    if isinstance(error, ResponseError) and "MISCONF" in str(error):
        return "REDIS TAKES NO WRITES (it cannot save its data, its log says why)"
    raise error
