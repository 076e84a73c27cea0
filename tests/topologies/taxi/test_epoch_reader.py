"""What the source's threads ask Redis and what they believe, on scripted answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from formats.address import Address
from formats.semantics import Semantics
from topologies.batches.header import QueryStart
from topologies.redis_io.resp import RedisGoneError, RedisReplyError
from topologies.taxi.epochs import Began, EpochReader, Progress, ProgressWatch, Superseded, Trouble
from topologies.taxi.keys import Run
from topologies.taxi.settings import TaxiSettings

from .waiting import WAIT_S, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topologies.taxi.epochs import News

RUN = Run("r1")


class Scripted:
    """A Redis that gives the answers of a test; a new epoch is one above the last, from 5 on."""

    def __init__(self) -> None:
        self.begun = 4
        self.known_epoch = 5
        self.hashed: list[bytes | None] = []
        self.refusal: str | None = None
        self.watched = threading.Semaphore(0)
        self.reading = threading.Semaphore(0)

    def connection(self, *_: Any) -> Any:
        redis, closed = self, threading.Event()

        class Connection:
            def call(self, command: str, *_: Any) -> Any:
                if command == "EVAL":
                    redis.begun += 1
                    return [redis.begun - 1, b"%d" % redis.begun, b"1", [[b"1", b"1", b"-", b"0"]], 0]
                if command == "HGET":
                    return b"%d" % redis.known_epoch
                if command == "HMGET":
                    redis.watched.release()
                    return redis.hashed
                return b"OK"

            def send(self, _: bytes) -> None:
                pass

            def read_reply(self) -> Any:
                redis.reading.release()
                if redis.refusal is not None:
                    raise RedisReplyError(redis.refusal)
                closed.wait(WAIT_S)
                raise RedisGoneError("closed")

            def close(self) -> None:
                closed.set()

        return Connection()


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    redis = Scripted()
    monkeypatch.setattr("topologies.taxi.epochs.RedisConnection", redis.connection)
    return redis


@pytest.fixture
def reader(scripted: Scripted) -> Iterator[EpochReader]:  # noqa: ARG001 - it connects to that one
    reader = EpochReader(TaxiSettings(Address("redis", 6379), RUN))
    yield reader
    reader.stop()


def news(reader: EpochReader) -> News:
    """Return what the reader says next."""
    found: list[News] = []

    def said() -> bool:
        each = reader.poll()
        found.extend([] if each is None else [each])
        return bool(found)

    until(said)
    return found[0]


@pytest.mark.parametrize(("known_epoch", "then"), [(5, Trouble), (6, Superseded)])
def test_a_refused_source_is_superseded_only_if_a_newer_epoch_than_its_own_is_known(
    scripted: Scripted, reader: EpochReader, known_epoch: int, then: type
) -> None:
    """In its own epoch something else is wrong, and it begins another one."""
    scripted.known_epoch, scripted.refusal = known_epoch, "NOGROUP no such group"
    reader.start()
    assert news(reader) == Began(5, 1, {"1": QueryStart(1, None, 0)}, 4, 0)
    assert isinstance(news(reader), then)


def test_news_of_an_epoch_that_is_given_up_are_dropped(scripted: Scripted, reader: EpochReader) -> None:
    """What was ready before another epoch was asked for would count for that one."""
    reader.start()
    assert scripted.reading.acquire(timeout=WAIT_S)  # the news that the first epoch has begun is ready
    reader.begin_again(5, 0)
    assert news(reader) == Began(6, 1, {"1": QueryStart(1, None, 0)}, 5, 0)


@pytest.mark.parametrize(("seen", "least"), [((b"20", b"12"), 12), ((b"12", b"20"), 12), ((b"12", None), 0)])
def test_a_row_is_worked_off_when_the_last_of_the_queries_has_seen_it(
    scripted: Scripted, seen: tuple[bytes | None, ...], least: int
) -> None:
    """A query that has said nothing has seen none."""
    scripted.hashed = [b"7", *seen]
    watch = ProgressWatch(TaxiSettings(Address("redis", 6379), RUN, ("1", "2")), Semantics())
    watch.start()
    for _ in range(2):  # when it asks again it has noted the first answer
        assert scripted.watched.acquire(timeout=WAIT_S)
    watch.stop()
    assert watch.progress == Progress(7, least)
