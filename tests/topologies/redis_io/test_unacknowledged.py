"""Entries that were read but never acknowledged come back, on a real Redis."""

from __future__ import annotations

import time
from typing import Any

import pytest

from topologies.redis_io.reader import Entry, StreamReader, Trouble
from topologies.redis_io.unacknowledged import UnacknowledgedEntries
from topologies.redis_io.writer import StreamWriter

_WAIT_S = 20.0
_POLL_S = 0.005


def found(entries: UnacknowledgedEntries) -> list[Entry] | Trouble:
    """What the next claim brings."""
    until_s = time.monotonic() + _WAIT_S
    while (result := entries.poll()) is None and time.monotonic() < until_s:
        time.sleep(_POLL_S)
    assert result is not None
    return result


def numbers(entries: list[Entry] | Trouble) -> list[int]:
    assert isinstance(entries, list), entries
    return [int(entry.fields["n"]) for entry in entries]


@pytest.fixture
def read(redis_server: Any) -> list[Entry]:
    """Five entries that a reader has read and left."""
    for n in range(1, 6):
        redis_server.client().xadd("rows", {"n": n})
    reader = StreamReader(redis_server.address, "rows", "g", acknowledged=True)
    reader.start()
    entries: list[Entry] = []
    while len(entries) < 5:
        ready = reader.take(_WAIT_S)
        assert isinstance(ready, list), ready
        entries += ready
    reader.stop()
    return entries


def started(redis_server: Any) -> UnacknowledgedEntries:
    entries = UnacknowledgedEntries(redis_server.address, "rows", "g", "tallies")
    entries.start()
    return entries


def test_what_is_not_acknowledged_comes_back_to_a_later_life(redis_server: Any, read: list[Entry]) -> None:
    """In the order of the stream, without what was acknowledged; lives are counted."""
    first = started(redis_server)
    for entry in (read[0], read[3]):
        first.acknowledge(entry.id)
    first.claim(0)
    assert numbers(found(first)) == [2, 3, 5]
    assert first.life == 0
    first.stop()
    second = started(redis_server)
    second.claim(0)
    assert numbers(found(second)) == [2, 3, 5]
    assert second.life == 1
    second.claim(3_600_000)
    assert found(second) == []  # nothing is idle for an hour
    second.count("replayed")
    for entry in read:
        second.acknowledge(entry.id)
    second.claim(0)
    assert found(second) == []
    second.stop()
    assert redis_server.client().hgetall("tallies") == {"began": "2", "replayed": "1"}


def test_an_outage_is_told_and_work_goes_on_after_it(redis_server: Any, read: list[Entry]) -> None:
    """The claim that was under way is answered by the Redis that is back."""
    entries = started(redis_server)
    entries.claim(0)
    assert len(numbers(found(entries))) == len(read)
    redis_server.stop()
    entries.claim(0)
    trouble = found(entries)
    assert isinstance(trouble, Trouble)
    assert "acknowledging rows: Redis 127.0.0.1" in trouble.message
    redis_server.start()
    while isinstance(result := found(entries), Trouble):
        pass
    assert result == []  # a Redis without its data
    entries.stop()


def test_a_writer_tells_each_entry_that_redis_has_taken(redis_server: Any) -> None:
    """In order, and not before Redis has answered."""
    taken: list[int] = []
    writer = StreamWriter(redis_server.address, on_answer=taken.append)
    for tag in range(100):
        writer.add("results", {"n": tag}, tag=tag)
    writer.flush(_WAIT_S)
    writer.close()
    assert taken == list(range(100))
