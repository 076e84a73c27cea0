"""Appends to Redis streams without waiting for answers, so that distance costs one way only."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from topologies.redis_io.resp import (
    RedisConnection,
    RedisGoneError,
    RedisReplyError,
    encode_command,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from topologies.address import Address

_RETRY_S = 1.0


class WriteLostError(Exception):
    """Entries may not have reached Redis.

    Attributes:
        tags: The callers' tags of the entries without an answer, oldest first.
    """

    def __init__(self, message: str, tags: tuple[int, ...]) -> None:
        super().__init__(message)
        self.tags = tags


class _Session:
    """One connection of a writer with the thread that drains its replies."""

    def __init__(
        self, address: Address, answer_timeout_s: float, on_answer: Callable[[int], None] | None
    ) -> None:
        self.connection = RedisConnection(address)
        self.fault: str | None = None
        self.unanswered: deque[tuple[int, float]] = deque()
        self._answer_timeout_s = answer_timeout_s
        self._on_answer = on_answer
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._drain, name=f"replies of {address}", daemon=True)
        self._thread.start()

    def send(self, command: bytes, tag: int) -> None:
        with self._changed:
            self.unanswered.append((tag, time.monotonic()))
        try:
            self.connection.send(command)
        except RedisGoneError as error:
            self._fail(str(error))

    def check_age(self) -> None:
        """Notice a server that takes requests but answers none."""
        with self._changed:
            oldest = self.unanswered[0][1] if self.unanswered else None
        if oldest is not None and time.monotonic() - oldest > self._answer_timeout_s:
            self._fail(f"no answer for {self._answer_timeout_s:g} s")

    def wait_answered(self, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self.unanswered or self.fault is not None, timeout_s)

    def close(self) -> None:
        self.connection.close()
        self._thread.join()

    def _drain(self) -> None:
        while True:
            try:
                self.connection.read_reply()
            except (RedisGoneError, RedisReplyError) as error:
                self._fail(str(error))
                return
            with self._changed:
                tag, _ = self.unanswered.popleft()
                self._changed.notify_all()
            if self._on_answer is not None:
                self._on_answer(tag)

    def _fail(self, message: str) -> None:
        with self._changed:
            self.fault = self.fault or message
            self._changed.notify_all()
        self.connection.close()


class StreamWriter:
    """Appends entries to streams without waiting for Redis' answers.

    The first call after a fault raises `WriteLostError` with the tags of all entries without an answer; later
    calls connect anew, at most once a second.

    Args:
        address: Where Redis listens.
        answer_timeout_s: Longest silence of Redis while an answer is due, seconds.
        on_answer: Called with the tag of each entry that Redis has taken, in a thread of the writer.
    """

    def __init__(
        self,
        address: Address,
        answer_timeout_s: float = 10.0,
        on_answer: Callable[[int], None] | None = None,
    ) -> None:
        self._address = address
        self._answer_timeout_s = answer_timeout_s
        self._on_answer = on_answer
        self._session: _Session | None = None
        self._next_try = 0.0

    def add(self, stream: str, fields: dict[str, str | int], tag: int) -> None:
        """Append one entry.

        Args:
            stream: Key of the stream.
            fields: The entry.
            tag: Number by which the caller knows the entry, told back if it may be lost.

        Raises:
            WriteLostError: Redis is gone; this entry and maybe some before are not written.
        """
        session = self._session
        if session is None:
            session = self._session = self._connect(tag)
        arguments = [part for pair in fields.items() for part in pair]
        session.send(encode_command("XADD", stream, "*", *arguments), tag)
        self.check()

    def check(self) -> None:
        """Notice a fault also while nothing is written.

        Raises:
            WriteLostError: As `add`.
        """
        session = self._session
        if session is None:
            return
        session.check_age()
        if session.fault is not None:
            self._session = None
            session.close()
            raise WriteLostError(f"writing to Redis {self._address}: {session.fault}", _tags(session))

    def flush(self, timeout_s: float) -> None:
        """Wait until everything is answered.

        Raises:
            WriteLostError: A fault came first, or the time is over.
        """
        session = self._session
        if session is not None and not session.wait_answered(timeout_s):
            raise WriteLostError(
                f"Redis {self._address} did not answer within {timeout_s:g} s", _tags(session)
            )
        self.check()

    def close(self) -> None:
        """Close the connection; answers that are due are not waited for."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _connect(self, tag: int) -> _Session:
        now = time.monotonic()
        if now < self._next_try:
            raise WriteLostError(f"Redis {self._address} is gone", (tag,))
        self._next_try = now + _RETRY_S
        try:
            return _Session(self._address, self._answer_timeout_s, self._on_answer)
        except RedisGoneError as error:
            raise WriteLostError(str(error), (tag,)) from error


def _tags(session: _Session) -> tuple[int, ...]:
    return tuple(tag for tag, _ in session.unanswered)
