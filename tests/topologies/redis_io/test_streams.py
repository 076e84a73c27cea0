"""Reading ahead and writing without waiting, on a real Redis."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from formats.address import Address
from topologies.redis_io.reader import read_group
from topologies.redis_io.resp import RedisConnection, RedisGoneError, RedisReplyError, encode_command
from topologies.redis_io.writer import CommandWriter, WriteLostError

_WAIT_S = 20.0


class WriterLog:
    """A writer, and what it reported of its commands."""

    def __init__(self, address: Address, greeting: bytes = b"", answer_timeout_s: float = 10.0) -> None:
        self.done: list[int] = []
        self.writer = CommandWriter(
            address,
            self.done.append,
            greeting,
            answer_timeout_s,
        )

    def add(self, tag: int, key: str = "results") -> None:
        self.writer.send(encode_command("XADD", key, "*", "n", tag), tag)

    def add_flushed(self, tag: int) -> None:
        self.add(tag)
        self.writer.flush(_WAIT_S)

    def add_until_lost(self, first: int) -> None:
        for tag in range(first, 100_000):
            self.add(tag)


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


def test_nothing_listening_is_an_error_with_the_address() -> None:
    """The message names where Redis was looked for."""
    with pytest.raises(RedisGoneError, match=r"Redis 127\.0\.0\.1:1 cannot be reached"):
        RedisConnection(Address("127.0.0.1", 1))


def test_a_silent_redis_is_gone_after_the_time_that_was_set(redis_server: Any) -> None:
    """A server that takes requests but answers none is noticed."""
    connection = RedisConnection(redis_server.address, timeout_s=0.05)
    redis_server.freeze()
    with pytest.raises(RedisGoneError, match="timed out"):
        connection.call("PING")
    connection.close()


def test_rows_come_in_order_from_before_and_after_the_start(redis_server: Any) -> None:
    """The group's place is where reading begins; single rows and batches keep their order."""
    client = redis_server.client()
    for n in range(1, 251):
        client.xadd("rows", {"n": n})
    client.xgroup_create("rows", "g", "0")
    connection = RedisConnection(redis_server.address)
    entries = read_group(connection, "rows", "g")
    numbers: list[int] = []
    while len(numbers) < 250:
        numbers += [int(entry.fields["n"]) for entry in next(entries)]
    for n in range(251, 271):
        client.xadd("rows", {"n": n})
        numbers += [int(entry.fields["n"]) for entry in next(entries)]
    assert numbers == list(range(1, 271))
    connection.close()


def test_no_more_is_asked_for_than_is_taken(redis_server: Any) -> None:
    """While no reader takes rows, most of a long stream stays in Redis."""
    client = redis_server.client()
    pipeline = client.pipeline(transaction=False)
    for n in range(3_000):
        pipeline.xadd("rows", {"n": n})
    pipeline.execute()
    client.xgroup_create("rows", "g", "0")
    connection = RedisConnection(redis_server.address)
    entries = read_group(connection, "rows", "g")
    assert len(next(entries)) == 10
    (group,) = client.xinfo_groups("rows")
    assert group["entries-read"] <= 10 * (32 + 1)
    connection.close()


def test_bytes_that_are_no_text_are_read_all_the_same(redis_server: Any) -> None:
    """A row is judged by its columns, and its number must not be missing."""
    client = redis_server.client()
    client.xadd("rows", {"n": 1, "lines": b"a\xffb"})
    client.xgroup_create("rows", "g", "0")
    connection = RedisConnection(redis_server.address)
    (entry,) = next(read_group(connection, "rows", "g"))
    assert entry.fields == {"n": "1", "lines": "a\ufffdb"}
    connection.close()


def test_commands_are_done_in_order_without_waiting(redis_server: Any) -> None:
    """All are done after a flush, in the order of the calls, and reported."""
    log = WriterLog(redis_server.address)
    for tag in range(2_000):
        log.add(tag)
    log.writer.flush(_WAIT_S)
    entries = redis_server.client().xrange("results")
    assert [fields["n"] for _, fields in entries] == [str(tag) for tag in range(2_000)]
    assert log.done == list(range(2_000))


def test_a_writer_names_what_may_be_lost_when_redis_does_not_answer(redis_server: Any) -> None:
    """A server that takes requests but answers none is a fault; the commands in doubt are named."""
    log = WriterLog(redis_server.address, answer_timeout_s=0.05)
    log.add_flushed(1)
    redis_server.freeze()
    with pytest.raises(WriteLostError, match=r"no answer for 0\.05 s") as lost:
        log.add_until_lost(2)
    assert lost.value.tags[0] == 2


def test_a_writer_reports_that_redis_is_gone_and_connects_anew(redis_server: Any) -> None:
    """Every call during the outage raises with its own tag; afterwards commands arrive again."""
    log = WriterLog(redis_server.address)
    log.add_flushed(1)
    redis_server.stop()
    with pytest.raises(WriteLostError, match=r"127\.0\.0\.1:\d+"):
        log.add_until_lost(2)
    with pytest.raises(WriteLostError) as lost:
        log.add(3)
    assert lost.value.tags == (3,)
    redis_server.start()
    client = redis_server.client()
    tag = 4
    pause = threading.Event()
    while not client.xlen("results"):
        try:
            log.add_flushed(tag)
        except WriteLostError:
            tag += 1
            pause.wait(0.01)
    assert client.xrange("results")[0][1]["n"] == str(tag)


def test_a_refusal_concerns_its_command_alone(redis_server: Any) -> None:
    """It is reported with the reason (here: wrong type of key); what comes behind is done."""
    redis_server.client().set("text", "no stream")
    log = WriterLog(redis_server.address)
    log.add(1, "text")
    log.add_flushed(2)
    ((tag, reason),) = log.writer.refused
    assert (tag, "WRONGTYPE" in reason, log.done) == (1, True, [2])


def test_a_refused_greeting_is_a_fault(redis_server: Any) -> None:
    """Commands that rely on it are not done."""
    log = WriterLog(redis_server.address, encode_command("SCRIPT", "LOAD", "no script ("))
    with pytest.raises(WriteLostError, match="compiling script"):
        log.add_flushed(1)
    assert log.done == []


@pytest.mark.parametrize("text", ["", "redis", ":6379", "redis:", "redis:0", "redis:65536", "redis:x", "r:²"])
def test_an_address_is_host_and_port(text: str) -> None:
    """Anything else is refused and quoted."""
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        Address.parse(text)
