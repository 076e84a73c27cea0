"""The connections that are served at once: a bounded number, of which an idle one gives way to a new one."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


class Stage(IntEnum):
    """How far a connection is, in the order in which connections give way."""

    IDLE = 0
    """No byte of a request has come."""
    RECEIVING = 1
    """A request is arriving."""
    WORKING = 2
    """A request is being answered: the connection gives way to none."""


@dataclass(eq=False)
class Connection:
    """A connection with the thread that serves it.

    Attributes:
        socket: Its socket.
        peer: Address of the client.
        thread: Serves it.
        stage: How far it is.
        since_s: When that began, monotonic s.
        gave_way: Whether another one has its place.
    """

    socket: socket.socket
    peer: str
    thread: threading.Thread = field(init=False)
    stage: Stage = Stage.IDLE
    since_s: float = 0.0
    gave_way: bool = False


class NoPlaceError(RuntimeError):
    """Every place belongs to a connection whose request is being answered."""


class Places:
    """Who is connected; safe to use from several threads.

    Args:
        most: Largest number of connections.
        clock: Monotonic seconds.

    Attributes:
        closed: True from when no further request may begin; setting it waits for no lock.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.closed = False
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: dict[Connection, None] = {}

    def admit(self, connection: Connection) -> Connection | None:
        """Give a connection a place.

        Returns:
            The connection that gave way to it: the one that has been idle for longest, else the one whose
            request has been arriving for longest. None if there was a free place.

        Raises:
            NoPlaceError: There is no place and none to be had.
        """
        with self._lock:
            gives_way = None
            if len(self._taken) >= self._most:
                gives_way = self._take_back()
                if gives_way is None:
                    raise NoPlaceError(f"all {self._most} connections are being answered")
            connection.since_s = self._clock()
            self._taken[connection] = None
            return gives_way

    def make_way(self) -> Connection | None:
        """Take the place of the connection that gives way next, None if none does."""
        with self._lock:
            return self._take_back()

    def turn_to(self, connection: Connection, stage: Stage) -> bool:
        """Note how far a connection is; False if it must end instead."""
        with self._lock:
            connection.stage, connection.since_s = stage, self._clock()
            return connection in self._taken and not self.closed

    def leave(self, connection: Connection) -> None:
        """Free a connection's place, if it still has one."""
        with self._lock:
            self._taken.pop(connection, None)

    def all(self) -> tuple[Connection, ...]:
        """Return the connections that have a place."""
        with self._lock:
            return tuple(self._taken)

    def _take_back(self) -> Connection | None:
        waiting = [each for each in self._taken if each.stage is not Stage.WORKING]
        if not waiting:
            return None
        first = min(waiting, key=lambda each: (each.stage, each.since_s))
        del self._taken[first]
        first.gave_way = True
        return first
