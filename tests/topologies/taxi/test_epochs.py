"""Source and sink against a real Redis: epochs begin, results are written once, outages are survived."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from topologies.batches.clock import Account, Rebuild, Step, Ticks
from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.component import REPLAY_KEY
from topologies.taxi.keys import Run
from topologies.taxi.settings import REDIS_KEY, RUN_KEY, STALL_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = Run("r1")
_WAIT_S = 20.0
_STALL_S = 0.3


def conf(redis_server: Any, **more: Any) -> dict[str, Any]:
    return {REDIS_KEY: str(redis_server.address), RUN_KEY: RUN.id, STALL_KEY: _STALL_S, **more}


def until(done: Callable[[], bool]) -> None:
    end_s = time.monotonic() + _WAIT_S
    pause = threading.Event()
    while not done():
        assert time.monotonic() < end_s
        pause.wait(0.005)


class Source:
    """A source that is asked again and again, and what it emitted."""

    def __init__(self, stage: Callable[..., Any], settings: dict[str, Any]) -> None:
        self.stage = stage("dataSource", settings)
        self.batches: list[Header] = []

    @property
    def errors(self) -> list[str]:
        return list(self.stage.errors)

    def next(self) -> None:
        self.batches += [Header.of(values) for _, values in self.stage.next_tuple()]

    def until(self, done: Callable[[], bool]) -> None:
        def asked() -> bool:
            self.next()
            return done()

        until(asked)

    def until_row(self, epoch: int, row: int) -> None:
        self.until(lambda: any(each.epoch == epoch and each.next > row for each in self.batches))

    def stop(self) -> None:
        self.stage.component._reader.stop()
        self.stage.component._watch.stop()


@pytest.fixture
def source(stage: Callable[..., Any]) -> Any:
    """Starts sources; stops them at the end."""
    started: list[Source] = []

    def start(settings: dict[str, Any]) -> Source:
        started.append(Source(stage, settings))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def put(client: Any, first: int, count: int = 2) -> str:
    return str(client.xadd(RUN.rows, {"n": first, "lines": "\n".join(["x"] * count)}))


def test_a_source_sends_what_is_there_and_goes_on_with_what_comes(source: Any, redis_server: Any) -> None:
    """It never waits; an entry that is none is told."""
    client = redis_server.client()
    put(client, 1)
    client.xadd(RUN.rows, {"n": "x"})
    each = source(conf(redis_server, **{STALL_KEY: 60}))
    each.until_row(1, 2)
    put(client, 3)
    each.until_row(1, 4)
    client.xadd(RUN.rows, {"n": 5, "end": 1})
    each.until_row(1, 5)
    assert next(header.first for header in each.batches) == 1
    assert len(each.errors) == 1
    assert client.hgetall(RUN.progress)["epoch"] == "1"


def test_without_progress_a_new_epoch_begins_at_the_rebuild_point(source: Any, redis_server: Any) -> None:
    """The entry that holds it is read again, later ones too, and it is said how many rows that are."""
    client = redis_server.client()
    ids = [put(client, first) for first in (1, 3, 5)]
    each = source(conf(redis_server))
    each.until_row(1, 6)
    each.until(lambda: each.stage.component._progress.epoch == 1)
    client.hset(
        RUN.progress,
        mapping={
            "released:1": 4,
            "seen:1": 4,
            "rebuild_id:1": ids[1],
            "rebuild_n:1": 4,
            "rebuild_clock:1": 77,
        },
    )
    each.until_row(2, 6)
    again = [header for header in each.batches if header.epoch == 2]
    assert again[0].origin == again[0].first == 4
    assert again[0].query("1") == QueryStart(4, 77, 4)
    assert [header.first for header in again] == [4, 5]
    assert "no row was worked off for 0.3 s" in each.errors[0]
    assert [group["name"] for group in client.xinfo_groups(RUN.rows)] == ["epoch-2"]
    assert client.hgetall(RUN.progress)["replayed"] == "3"


def test_what_is_worked_off_is_waited_for_no_more(source: Any, redis_server: Any) -> None:
    """A quiet stream begins no epoch."""
    client = redis_server.client()
    put(client, 1)
    each = source(conf(redis_server))
    each.until_row(1, 2)
    client.hset(RUN.progress, "seen:1", 2)
    begin_s = time.monotonic()
    each.until(lambda: time.monotonic() - begin_s > 3 * _STALL_S)
    assert client.hget(RUN.progress, "epoch") == "1"


def test_a_failed_batch_begins_an_epoch_at_once_but_one_of_an_earlier_does_not(
    source: Any, redis_server: Any
) -> None:
    """With acking, however long the stall time is."""
    client = redis_server.client()
    put(client, 1)
    each = source(conf(redis_server, **{REPLAY_KEY: True, STALL_KEY: 60}))
    (message,) = _emits(each.stage)
    each.stage.run({"command": "fail", "id": message["id"]})
    each.until_row(2, 2)
    each.stage.run({"command": "fail", "id": message["id"]})
    put(client, 3)
    each.until_row(2, 4)
    assert client.hget(RUN.progress, "epoch") == "2"


def _emits(stage: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def emitted() -> bool:
        found.extend(each for each in stage.run({"command": "next"}) if each["command"] == "emit")
        return bool(found)

    until(emitted)
    return found


def test_a_superseded_source_is_quiet_until_the_other_makes_no_progress(
    source: Any, redis_server: Any
) -> None:
    """Two that live at once do not chase each other."""
    client = redis_server.client()
    put(client, 1)
    old = source(conf(redis_server))
    old.until_row(1, 2)
    new = source(conf(redis_server, **{STALL_KEY: 60}))
    new.until_row(2, 2)
    old.until(lambda: old.stage.component._superseded)
    old.until_row(3, 2)
    assert new.errors == []


def test_an_outage_of_redis_is_told_once_and_rows_come_again(source: Any, lasting_redis: Any) -> None:
    """A new epoch begins as soon as Redis is back, as rows under way are lost."""
    put(lasting_redis.client(), 1)
    each = source(conf(lasting_redis, **{STALL_KEY: 60}))
    each.until_row(1, 2)
    lasting_redis.stop()
    each.until(lambda: bool(each.errors))
    lasting_redis.start()
    each.until_row(2, 2)
    (error,) = each.errors
    assert "reading rows: Redis 127.0.0.1" in error


def test_a_redis_that_lost_its_data_is_told(source: Any, redis_server: Any) -> None:
    """And which rows cannot be had any more; nothing is sent for them."""
    put(redis_server.client(), 1)
    each = source(conf(redis_server, **{STALL_KEY: 60}))
    each.until_row(1, 2)
    redis_server.stop()
    redis_server.start()
    put(redis_server.client(), 3)
    each.until(lambda: len(each.errors) >= 3)
    assert "has lost its data: it knows epoch 0 of run r1, which was in epoch 1" in each.errors[1]
    assert "rows 1 to 2 are not in Redis any more" in each.errors[2]
    assert all(header.epoch == 1 for header in each.batches)


class Sink:
    """A globalRank that is given batches of two rows."""

    def __init__(self, stage: Callable[..., Any], settings: dict[str, Any]) -> None:
        self.stage = stage("globalRank", settings)

    def give(self, epoch: int, first: int, *, released: int = 0, end: bool = False) -> list[dict[str, Any]]:
        """Return the acks, fails and errors."""
        header = Header(epoch, 1, first, first + 2, pack_queries({"1": QueryStart(1, None, released)}))
        ticks = Ticks((Step(first, 60 * first, 5),))
        account = Account(f"{first}-{first + 1}", "", Rebuild("1-0", 1, None), f"{first} {first}000-0", end)
        top = f"{first} 5 {60 * first} r-s {first} {first}"
        trail = "1000 " + " ".join(["1001"] * 11)
        values = [*header.values, 0, trail, ticks.encode(), account.encode(), top]
        message = {"id": f"t{first}", "comp": "partialRank", "stream": "default", "task": 1, "tuple": values}
        return self._told(self.stage.run(message))

    def tick(self) -> list[dict[str, Any]]:
        message = {"id": "tick", "comp": "__system", "stream": "__tick", "task": -1, "tuple": [1]}
        return [each for each in self._told(self.stage.run(message)) if each.get("id") != "tick"]

    def _told(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [each for each in messages if each["command"] in {"ack", "fail", "error"}]

    def flush(self) -> None:
        self.stage.component._writer.flush(_WAIT_S)


def results(client: Any) -> list[str]:
    return [fields["first"] for _, fields in client.xrange(RUN.results)]


def test_a_batch_is_written_once(stage: Callable[..., Any], redis_server: Any) -> None:
    """With all that the collector needs; rows up to the released one are only noted as worked off again."""
    client = redis_server.client()
    client.hset(RUN.progress, "epoch", 1)
    sink = Sink(stage, conf(redis_server))
    for first in (1, 3):
        assert sink.give(1, first) == [{"command": "ack", "id": f"t{first}"}]
    sink.flush()
    client.hset(RUN.progress, mapping={"epoch": 2, "seen:1": 0})
    sink.give(2, 1, released=4)
    sink.flush()
    assert client.hget(RUN.progress, "seen:1") == "2"
    sink.give(2, 3, released=4)
    sink.give(2, 5, released=4, end=True)
    sink.flush()
    entries = [fields for _, fields in client.xrange(RUN.results)]
    assert [each["first"] for each in entries] == ["1", "3", "5"]
    done_us = entries[2].pop("done_us")
    assert int(done_us) > 0
    stamps = entries[2].pop("trail").split(" ")
    assert stamps[:-1] == ["1"] * 11
    assert entries[2] == {
        "first": "5",
        "next": "7",
        "passed": "5-6",
        "rejected": "",
        "available": "5 5000",
        "emit_us": "1000",
        "end": "1",
        "tops": "",
        "states": '4 180 [["r-s",3]]\n6 300 [["r-s",5]]',
    }
    assert client.hgetall(RUN.progress) == {
        "epoch": "2",
        "seen:1": "6",
        "released:1": "6",
        "rebuild_id:1": "1-0",
        "rebuild_n:1": "1",
        "rebuild_clock:1": "-",
    }


def test_an_epoch_that_is_over_is_refused_without_a_word(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """Its rows come again in the new one."""
    client = redis_server.client()
    client.hset(RUN.progress, "epoch", 2)
    sink = Sink(stage, conf(redis_server))
    sink.give(1, 1)
    sink.flush()
    assert sink.tick() == []
    assert results(client) == []


def test_a_batch_that_does_not_follow_is_refused_and_told_once(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """Nothing more of the epoch is written."""
    client = redis_server.client()
    client.hset(RUN.progress, mapping={"epoch": 1, "released:1": 7})
    sink = Sink(stage, conf(redis_server))
    sink.give(1, 1)
    sink.flush()
    (error,) = sink.tick()
    assert "Redis refused results: GAP results from row 1 on do not follow row 7" in error["msg"]
    sink.give(1, 3)
    assert results(client) == []


def test_with_replay_a_batch_is_acknowledged_when_redis_has_it(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """While Redis is silent it is not; what Redis has not taken when it goes away fails."""
    redis_server.client().hset(RUN.progress, "epoch", 1)
    sink = Sink(stage, conf(redis_server, **{REPLAY_KEY: True}))
    told = sink.give(1, 1)
    sink.flush()
    told += [each for each in sink.stage.messages() if each["command"] == "ack"]
    assert told == [{"command": "ack", "id": "t1"}]
    redis_server.freeze()
    assert sink.give(1, 3) == []
    redis_server.stop()
    sink.stage.component._writer._session.wait_answered(_WAIT_S)
    told = sink.tick()
    assert [each["command"] for each in told] == ["fail", "error"]
    assert told[0]["id"] == "t3"
    assert "rows without a result come again in a new epoch" in told[1]["msg"]


def test_a_full_redis_is_told_once_and_survived(stage: Callable[..., Any], redis_server: Any) -> None:
    """Nothing of a refused batch is written; a new epoch goes on once there is room."""
    client = redis_server.client()
    client.hset(RUN.progress, "epoch", 1)
    client.config_set("maxmemory", 1)
    sink = Sink(stage, conf(redis_server))
    sink.give(1, 1)
    sink.flush()
    (error,) = sink.tick()
    assert "OOM" in error["msg"]
    client.config_set("maxmemory", 0)
    assert client.hgetall(RUN.progress) == {"epoch": "1"}
    client.hset(RUN.progress, "epoch", 2)
    client.config_set("maxmemory", 1)
    sink.give(2, 1)
    sink.flush()
    assert sink.tick() == []
    client.config_set("maxmemory", 0)
    client.hset(RUN.progress, "epoch", 3)
    sink.give(3, 1)
    sink.flush()
    assert results(client) == ["1"]
