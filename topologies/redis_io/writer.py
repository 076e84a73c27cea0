"""Sends commands to Redis without waiting for answers, so that distance costs one way only."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from topologies.redis_io.resp import RedisConnection, RedisGoneError, RedisReplyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.address import Address

_RETRY_S = 1.0
_NO_SCRIPT = "NOSCRIPT"


class WriteLostError(Exception):
    """Commands may not have reached Redis.

    Attributes:
        tags: The callers' tags of the commands without an answer, oldest first.
    """

    def __init__(self, message: str, tags: tuple[int, ...]) -> None:
        super().__init__(message)
        self.tags = tags


class _Session:
    """One connection of a writer with the thread that drains its replies."""

    def __init__(self, writer: CommandWriter) -> None:
        self.connection = RedisConnection(writer.address)
        self.fault: str | None = None
        self.unanswered: deque[tuple[int, float]] = deque()
        self._writer = writer
        self._changed = threading.Condition()
        self._greeted = not writer.greeting
        if writer.greeting:
            self.connection.send(writer.greeting)
        self._thread = threading.Thread(target=self._drain, name=f"replies of {writer.address}", daemon=True)
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
        if oldest is not None and time.monotonic() - oldest > self._writer.answer_timeout_s:
            self._fail(f"no answer for {self._writer.answer_timeout_s:g} s")

    def wait_answered(self, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self.unanswered or self.fault is not None, timeout_s)

    def close(self) -> None:
        self.connection.close()
        self._thread.join()

    def _drain(self) -> None:
        while True:
            refusal: str | None = None
            try:
                self.connection.read_reply()
            except RedisReplyError as error:
                refusal = str(error)
            except RedisGoneError as error:
                self._fail(str(error))
                return
            if not self._greeted:
                if refusal is not None:
                    self._fail(refusal)
                    return
                self._greeted = True
                continue
            if refusal is not None and refusal.startswith(_NO_SCRIPT):
                # what the greeting had loaded is gone: the next connection loads it again
                self._fail(refusal)
                return
            with self._changed:
                tag, _ = self.unanswered.popleft()
            if refusal is None:
                self._writer.on_answer(tag)
            else:
                self._writer.refused.append((tag, refusal))
            with self._changed:
                self._changed.notify_all()

    def _fail(self, message: str) -> None:
        with self._changed:
            self.fault = self.fault or message
            self._changed.notify_all()
        self.connection.close()


class CommandWriter:
    """Sends commands to Redis and does not wait for the answers, which come in order.

    The first call after a fault raises `WriteLostError` with the tags of all commands without an answer;
    later calls connect anew, at most once a second. A Redis that has lost its scripts (`SCRIPT FLUSH`) is a
    fault: the greeting may have loaded them.

    Args:
        address: Where Redis listens.
        on_answer: Called with the tag of each command that Redis has done, in a thread of the writer.
        greeting: Command that every connection begins with; it must be answered without an error.
        answer_timeout_s: Longest silence of Redis while an answer is due, seconds.

    Attributes:
        refused: Tag and Redis' reason of each command that it refused, for the caller to take away.
    """

    def __init__(
        self,
        address: Address,
        on_answer: Callable[[int], None],
        greeting: bytes = b"",
        answer_timeout_s: float = 10.0,
    ) -> None:
        self.address = address
        self.answer_timeout_s = answer_timeout_s
        self.greeting = greeting
        self.on_answer = on_answer
        self.refused: deque[tuple[int, str]] = deque()
        self._session: _Session | None = None
        self._next_try = 0.0

    def send(self, command: bytes, tag: int) -> None:
        """Send one encoded command.

        Args:
            command: The command.
            tag: Number by which the caller knows it.

        Raises:
            WriteLostError: Redis is gone; this command and maybe some before are not done.
        """
        session = self._session
        if session is None:
            session = self._session = self._connect(tag)
        session.send(command, tag)
        self.check()

    def check(self) -> None:
        """Notice a fault also while nothing is sent.

        Raises:
            WriteLostError: As `send`.
        """
        session = self._session
        if session is None:
            return
        session.check_age()
        if session.fault is not None:
            self._session = None
            session.close()
            raise WriteLostError(f"writing to Redis {self.address}: {session.fault}", _tags(session))

    def flush(self, timeout_s: float) -> None:
        """Wait until everything is answered.

        Raises:
            WriteLostError: A fault came first, or the time is over.
        """
        session = self._session
        if session is not None and not session.wait_answered(timeout_s):
            raise WriteLostError(
                f"Redis {self.address} did not answer within {timeout_s:g} s", _tags(session)
            )
        self.check()

    def _connect(self, tag: int) -> _Session:
        now = time.monotonic()
        if now < self._next_try:
            raise WriteLostError(f"Redis {self.address} is gone", (tag,))
        self._next_try = now + _RETRY_S
        try:
            return _Session(self)
        except RedisGoneError as error:
            raise WriteLostError(str(error), (tag,)) from error


def _tags(session: _Session) -> tuple[int, ...]:
    return tuple(tag for tag, _ in session.unanswered)
