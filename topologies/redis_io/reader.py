"""Reads a Redis stream ahead, so that distance costs one way and never a round trip per entry."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from topologies.redis_io.resp import (
    RedisConnection,
    RedisGoneError,
    RedisReplyError,
    Reply,
    encode_command,
)

if TYPE_CHECKING:
    from topologies.address import Address

_BLOCK_MS = 2_000
_REQUESTS_UNDER_WAY = 32
_ENTRIES_PER_REPLY = 100
_REPLIES_WAITING = 8
_RETRY_S = 1.0
_STOP_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a stream: its id (`<server clock ms>-<n>`) and its fields."""

    id: str
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong while reading; the reader goes on trying."""

    message: str


class StreamReader:
    """Reads a stream through a consumer group in a thread, many requests ahead.

    Redis answers a blocked request as soon as an entry comes and then turns to the next request on the same
    connection, so with many under way a reader far away gets every entry after one way. A bounded number of
    replies waits to be taken; beyond, nothing more is asked for. Unless entries have to be acknowledged
    (`UnacknowledgedEntries`), what was under way when the connection broke may be lost; the caller sees the
    gap in its numbers.

    Args:
        address: Where Redis listens.
        stream: Key of the stream.
        group: Consumer group; made at the stream's start when it does not exist.
        acknowledged: Whether Redis shall remember each entry until the caller acknowledges it.
    """

    def __init__(self, address: Address, stream: str, group: str, *, acknowledged: bool = False) -> None:
        self._address = address
        self._stream = stream
        self._group = group
        self._request = encode_command(
            *("XREADGROUP", "GROUP", group, group, "COUNT", _ENTRIES_PER_REPLY),
            *("BLOCK", _BLOCK_MS, *(() if acknowledged else ("NOACK",)), "STREAMS", stream, ">"),
        )
        self._ready: queue.Queue[list[Entry] | Trouble] = queue.Queue(_REPLIES_WAITING)
        self._stopped = threading.Event()
        self._connection: RedisConnection | None = None
        self._thread = threading.Thread(target=self._run, name=f"read {stream}", daemon=True)

    def start(self) -> None:
        """Start to read."""
        self._thread.start()

    def poll(self) -> list[Entry] | Trouble | None:
        """Return the next entries, or what went wrong, or None when nothing is there; never waits."""
        try:
            return self._ready.get_nowait()
        except queue.Empty:
            return None

    def take(self, timeout_s: float) -> list[Entry] | Trouble | None:
        """As `poll`, but wait up to `timeout_s` seconds."""
        try:
            return self._ready.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def stop(self) -> None:
        """Stop reading and close the connection."""
        self._stopped.set()
        connection = self._connection
        if connection is not None:
            connection.close()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read_until_broken()
            except (RedisGoneError, RedisReplyError) as error:
                if not self._stopped.is_set():
                    self._put(Trouble(f"reading {self._stream}: {error}; trying again every {_RETRY_S:g} s"))
                    self._stopped.wait(_RETRY_S)

    def _read_until_broken(self) -> None:
        connection = RedisConnection(self._address)
        self._connection = connection
        try:
            make_group(connection, self._stream, self._group)
            connection.send(self._request * _REQUESTS_UNDER_WAY)
            while not self._stopped.is_set():
                entries = _entries(connection.read_reply())
                if entries:
                    self._put(entries)
                connection.send(self._request)
        finally:
            connection.close()

    def _put(self, item: list[Entry] | Trouble) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put(item, timeout=_STOP_POLL_S)
            except queue.Full:
                continue
            return


def make_group(connection: RedisConnection, stream: str, group: str) -> None:
    """Make a consumer group that begins at the stream's start, unless it exists.

    Raises:
        RedisGoneError: The connection is broken.
        RedisReplyError: Redis refuses.
    """
    try:
        connection.call("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")
    except RedisReplyError as error:
        if not str(error).startswith("BUSYGROUP"):
            raise


def parse_entries(reply: Reply) -> list[Entry]:
    """Return the entries of one stream out of Redis' reply; those deleted since are left out."""
    entries = []
    for each in cast("list[tuple[bytes, list[bytes]] | None]", reply):
        if each is not None:
            texts = [part.decode() for part in each[1]]
            entries.append(Entry(each[0].decode(), dict(zip(texts[::2], texts[1::2], strict=True))))
    return entries


def _entries(reply: Reply) -> list[Entry]:
    """Return the entries of a reply to XREADGROUP on one stream (None: its time was over)."""
    if reply is None:
        return []
    return [entry for stream in cast("list[list[Reply]]", reply) for entry in parse_entries(stream[1])]
