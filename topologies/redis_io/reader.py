"""Reads a Redis stream ahead, so that distance costs one way and never a round trip per entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from topologies.redis_io.resp import RedisConnection, Reply, encode_command

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_MS = 2_000
_REQUESTS_UNDER_WAY = 32
_ENTRIES_PER_REPLY = 10  # of up to 1,000 rows each; of single rows, 320 come in one round trip


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a stream: its id (`<server clock ms>-<n>`) and its fields."""

    id: str
    fields: dict[str, str]


def read_group(connection: RedisConnection, stream: str, group: str) -> Iterator[list[Entry]]:
    """Read a stream through a consumer group for ever, many requests ahead.

    Redis answers a blocked request as soon as an entry comes and then turns to the next request on the same
    connection, so with many under way a reader far away gets every entry after one way. A bounded number of
    replies is under way; while nothing is taken, nothing more is asked for. What is under way when the
    connection breaks is lost: no entry is acknowledged.

    Args:
        connection: A connection that nothing else uses from now on.
        stream: Key of the stream.
        group: Consumer group.

    Raises:
        RedisGoneError: The connection is broken.
        RedisReplyError: Redis refuses, as when the group is no more.
    """
    request = encode_command(
        *("XREADGROUP", "GROUP", group, group, "COUNT", _ENTRIES_PER_REPLY),
        *("BLOCK", _BLOCK_MS, "NOACK", "STREAMS", stream, ">"),
    )
    connection.send(request * _REQUESTS_UNDER_WAY)
    while True:
        entries = _entries(connection.read_reply())
        if entries:
            yield entries
        connection.send(request)


def _entries(reply: Reply) -> list[Entry]:
    """Return the entries of a reply to XREADGROUP on one stream (None: its time was over)."""
    if reply is None:
        return []
    entries = []
    for stream in cast("list[list[Reply]]", reply):
        for each in cast("list[tuple[bytes, list[bytes]] | None]", stream[1]):
            if each is not None:  # deleted since
                # a file may hold bytes that are no text: the row is judged by its columns
                texts = [part.decode(errors="replace") for part in each[1]]
                entries.append(Entry(each[0].decode(), dict(zip(texts[::2], texts[1::2], strict=True))))
    return entries
