"""Reading ahead and writing without waiting, on a real Redis."""

from __future__ import annotations

from typing import Any

import pytest

from topologies.address import Address
from topologies.redis_io.reader import Entry, StreamReader, Trouble
from topologies.redis_io.resp import RedisConnection, RedisGoneError, RedisReplyError, encode_command
from topologies.redis_io.writer import StreamWriter, WriteLostError

_WAIT_S = 20.0


def add_flushed(writer: StreamWriter, tag: int) -> None:
    writer.add("results", {"n": tag}, tag=tag)
    writer.flush(_WAIT_S)


def add_until_lost(writer: StreamWriter, first_tag: int) -> None:
    for tag in range(first_tag, 100_000):
        writer.add("results", {"n": tag}, tag=tag)


def take_rows(reader: StreamReader, count: int) -> list[Entry]:
    rows: list[Entry] = []
    while len(rows) < count:
        ready = reader.take(_WAIT_S)
        assert isinstance(ready, list), ready
        rows += ready
    return rows


def test_many_requests_may_be_under_way_on_one_connection(redis_server: Any) -> None:
    """Replies come in the order of the requests, of every type of the protocol."""
    connection = RedisConnection(redis_server.address)
    requests = [
        ("SET", "a", "x\r\ny"),
        ("GET", "a"),
        ("GET", "none"),
        ("INCR", "n"),
        ("LRANGE", "none", 0, -1),
        ("XADD", "s", "1-1", "k", "ä"),
        ("XRANGE", "s", "-", "+"),
    ]
    connection.send(b"".join(encode_command(*request) for request in requests))
    replies = [connection.read_reply() for _ in requests]
    assert replies == [b"OK", b"x\r\ny", None, 1, [], b"1-1", [[b"1-1", [b"k", "ä".encode()]]]]
    with pytest.raises(RedisReplyError, match="WRONGTYPE"):
        connection.call("LPUSH", "a", "1")
    connection.close()


def test_nothing_listening_is_told_with_the_address() -> None:
    """The message names where Redis was looked for."""
    with pytest.raises(RedisGoneError, match=r"Redis 127\.0\.0\.1:1 cannot be reached"):
        RedisConnection(Address("127.0.0.1", 1))


def test_rows_come_in_order_from_before_and_after_the_start(redis_server: Any) -> None:
    """The group starts at the stream's beginning; single rows and batches keep their order."""
    client = redis_server.client()
    for n in range(1, 251):
        client.xadd("rows", {"n": n})
    reader = StreamReader(redis_server.address, "rows", "g")
    reader.start()
    rows = take_rows(reader, 250)
    for n in range(251, 271):
        client.xadd("rows", {"n": n})
        rows += take_rows(reader, 1)
    assert [int(row.fields["n"]) for row in rows] == list(range(1, 271))
    assert reader.poll() is None
    reader.stop()


def test_a_second_reader_goes_on_where_the_first_stopped(redis_server: Any) -> None:
    """Redis keeps the group's place."""
    client = redis_server.client()
    client.xadd("rows", {"n": 1})
    first = StreamReader(redis_server.address, "rows", "g")
    first.start()
    take_rows(first, 1)
    first.stop()
    client.xadd("rows", {"n": 2})
    second = StreamReader(redis_server.address, "rows", "g")
    second.start()
    assert [row.fields["n"] for row in take_rows(second, 1)] == ["2"]
    second.stop()


def test_a_reader_asks_for_no_more_than_it_may_hold(redis_server: Any) -> None:
    """While nobody takes rows, most of a long stream stays in Redis."""
    client = redis_server.client()
    pipeline = client.pipeline(transaction=False)
    for n in range(10_000):
        pipeline.xadd("rows", {"n": n})
    pipeline.execute()
    reader = StreamReader(redis_server.address, "rows", "g")
    reader.start()
    take_rows(reader, 100)
    (group,) = client.xinfo_groups("rows")
    assert group["entries-read"] <= 100 * (32 + 8 + 3)
    take_rows(reader, 9_900)
    reader.stop()


def test_a_reader_tells_that_redis_is_gone_and_goes_on_when_it_is_back(redis_server: Any) -> None:
    """An outage is told, and rows of the new server arrive."""
    reader = StreamReader(redis_server.address, "rows", "g")
    reader.start()
    redis_server.client().xadd("rows", {"n": 1})
    take_rows(reader, 1)
    redis_server.stop()
    trouble = reader.take(_WAIT_S)
    assert isinstance(trouble, Trouble)
    assert "reading rows: Redis 127.0.0.1" in trouble.message
    redis_server.start()
    redis_server.client().xadd("rows", {"n": 2})
    ready = reader.take(_WAIT_S)
    while isinstance(ready, Trouble):
        ready = reader.take(_WAIT_S)
    assert ready is not None
    assert ready[0].fields == {"n": "2"}
    reader.stop()


def test_entries_are_written_in_order_without_waiting(redis_server: Any) -> None:
    """All entries are there after a flush, in the order of the calls."""
    writer = StreamWriter(redis_server.address)
    for n in range(2_000):
        writer.add("results", {"n": n, "text": "a b"}, tag=n)
    writer.flush(_WAIT_S)
    entries = redis_server.client().xrange("results")
    assert [fields["n"] for _, fields in entries] == [str(n) for n in range(2_000)]
    writer.close()


def test_a_writer_names_what_may_be_lost_when_redis_does_not_answer(redis_server: Any) -> None:
    """A server that takes requests but answers none is a fault; the entries in doubt are named."""
    writer = StreamWriter(redis_server.address, answer_timeout_s=0.05)
    add_flushed(writer, tag=1)
    redis_server.freeze()
    with pytest.raises(WriteLostError, match=r"no answer for 0\.05 s") as lost:
        add_until_lost(writer, first_tag=2)
    assert lost.value.tags[0] == 2


def test_a_writer_tells_that_redis_is_gone_and_connects_anew(redis_server: Any) -> None:
    """Every call during the outage raises with its own tag; afterwards entries arrive again."""
    writer = StreamWriter(redis_server.address)
    add_flushed(writer, tag=1)
    redis_server.stop()
    with pytest.raises(WriteLostError, match=r"127\.0\.0\.1:\d+"):
        add_until_lost(writer, first_tag=2)
    with pytest.raises(WriteLostError) as lost:
        writer.add("results", {"n": 3}, tag=3)
    assert lost.value.tags == (3,)
    redis_server.start()
    client = redis_server.client()
    tag = 4
    while not client.xlen("results"):
        try:
            add_flushed(writer, tag)
        except WriteLostError:
            tag += 1
    assert client.xrange("results")[0][1]["n"] == str(tag)
    writer.close()


def test_an_error_reply_is_a_fault(redis_server: Any) -> None:
    """A refused entry (here: wrong type of key) is told, not dropped."""
    redis_server.client().set("results", "no stream")
    writer = StreamWriter(redis_server.address)
    with pytest.raises(WriteLostError, match="WRONGTYPE") as lost:
        add_flushed(writer, tag=1)
    assert lost.value.tags == (1,)


@pytest.mark.parametrize("text", ["", "redis", ":6379", "redis:", "redis:0", "redis:65536", "redis:x", "r:²"])
def test_an_address_is_host_and_port(text: str) -> None:
    """Anything else is refused and quoted."""
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        Address.parse(text)
