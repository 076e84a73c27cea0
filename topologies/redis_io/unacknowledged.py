"""Acknowledges entries of a consumer group, and takes back what was read but never acknowledged."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, cast

from topologies.redis_io.reader import Entry, Trouble, make_group, parse_entries
from topologies.redis_io.resp import RedisConnection, RedisGoneError, RedisReplyError, Reply

if TYPE_CHECKING:
    from topologies.address import Address

_MOST_PER_REQUEST = 1_000
_RETRY_S = 1.0

BEGAN = "began"
"""Tally: how many times a reader of the group has begun."""


class UnacknowledgedEntries:
    """The unacknowledged entries of a consumer group, on a connection and in a thread of their own.

    Each request is answered before the next: nothing here is in the way of an entry. What Redis has not
    answered when the connection breaks is asked again, so a tally may count twice.

    Args:
        address: Where Redis listens.
        stream: Key of the stream.
        group: Consumer group, and name of its consumer; made when it does not exist.
        tallies: Key of a hash of counts that outlive the reader.
    """

    def __init__(self, address: Address, stream: str, group: str, tallies: str) -> None:
        self._address = address
        self._stream = stream
        self._group = group
        self._tallies = tallies
        self._changed = threading.Condition()
        self._done: deque[str] = deque()
        self._counts: dict[str, int] = {BEGAN: 1}
        self._idle_ms: int | None = None
        self._life: int | None = None
        self._stopped = threading.Event()
        self._found: deque[list[Entry] | Trouble] = deque()
        self._connection: RedisConnection | None = None
        self._thread = threading.Thread(target=self._run, name=f"acknowledge {stream}", daemon=True)

    @property
    def life(self) -> int | None:
        """How many readers of the group began before this one; None until Redis has told."""
        return self._life

    def start(self) -> None:
        """Start to work."""
        self._thread.start()

    def acknowledge(self, entry_id: str) -> None:
        """Let Redis forget an entry."""
        with self._changed:
            self._done.append(entry_id)
            self._changed.notify_all()

    def count(self, tally: str) -> None:
        """Add 1 to a tally."""
        with self._changed:
            self._counts[tally] = self._counts.get(tally, 0) + 1
            self._changed.notify_all()

    def claim(self, idle_ms: int) -> None:
        """Ask for all entries that nobody acknowledged for so long; `poll` returns them, oldest first.

        Acknowledgements made before are sent before. Ask again only after the answer.
        """
        with self._changed:
            self._idle_ms = idle_ms
            self._changed.notify_all()

    def poll(self) -> list[Entry] | Trouble | None:
        """Return what a claim found (maybe nothing), or what went wrong, or None; never waits."""
        return self._found.popleft() if self._found else None

    def stop(self) -> None:
        """Stop and close the connection; what was not sent is dropped."""
        with self._changed:
            self._stopped.set()
            self._changed.notify_all()
            if self._connection is not None:
                self._connection.close()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._serve_until_broken()
            except (RedisGoneError, RedisReplyError) as error:
                if self._stopped.is_set():
                    return
                what = f"acknowledging {self._stream}: {error}; trying again every {_RETRY_S:g} s"
                self._found.append(Trouble(what))
                self._stopped.wait(_RETRY_S)

    def _serve_until_broken(self) -> None:
        connection = RedisConnection(self._address)
        with self._changed:
            self._connection = connection
        try:
            make_group(connection, self._stream, self._group)
            while True:
                with self._changed:
                    self._changed.wait_for(self._is_due)
                    if self._stopped.is_set():
                        return
                    done = [self._done[index] for index in range(min(len(self._done), _MOST_PER_REQUEST))]
                    counts = dict(self._counts)
                    idle_ms = self._idle_ms if len(done) == len(self._done) else None
                self._serve(connection, done, counts, idle_ms)
        finally:
            connection.close()

    def _is_due(self) -> bool:
        return bool(self._done or self._counts) or self._idle_ms is not None or self._stopped.is_set()

    def _serve(
        self, connection: RedisConnection, done: list[str], counts: dict[str, int], idle_ms: int | None
    ) -> None:
        for tally, count in counts.items():
            value = cast("int", connection.call("HINCRBY", self._tallies, tally, count))
            if tally == BEGAN:
                self._life = value - 1
            with self._changed:
                self._counts[tally] -= count
                if not self._counts[tally]:
                    del self._counts[tally]
        if done:
            connection.call("XACK", self._stream, self._group, *done)
            with self._changed:
                for _ in done:
                    self._done.popleft()
        if idle_ms is not None:
            entries = self._claimed(connection, idle_ms)
            with self._changed:
                self._idle_ms = None
                self._found.append(entries)

    def _claimed(self, connection: RedisConnection, idle_ms: int) -> list[Entry]:
        entries: list[Entry] = []
        cursor = b"0-0"
        while True:
            reply = connection.call(
                *("XAUTOCLAIM", self._stream, self._group, self._group, idle_ms, cursor),
                *("COUNT", _MOST_PER_REQUEST),
            )
            page = cast("list[Reply]", reply)
            cursor = cast("bytes", page[0])
            entries += parse_entries(page[1])
            if cursor == b"0-0":
                return entries
