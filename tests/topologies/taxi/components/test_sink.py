"""The last component against a real Redis: results are written once, refusals and outages are survived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from topologies.batches.acking import REPLAY_KEY
from topologies.batches.clock import Account, Rebuild, Step, Ticks
from topologies.batches.header import Header, QueryStart, pack_queries
from topologies.taxi.keys import Run
from topologies.taxi.settings import REDIS_KEY, RUN_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = Run("r1")
_WAIT_S = 20.0


def conf(redis_server: Any, **more: Any) -> dict[str, Any]:
    return {REDIS_KEY: str(redis_server.address), RUN_KEY: RUN.id, **more}


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
        return self._reports(self.stage.run(message))

    def tick(self) -> list[dict[str, Any]]:
        message = {"id": "tick", "comp": "__system", "stream": "__tick", "task": -1, "tuple": [1]}
        return [each for each in self._reports(self.stage.run(message)) if each.get("id") != "tick"]

    def _reports(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [each for each in messages if each["command"] in {"ack", "fail", "error"}]

    def flush(self) -> None:
        self.stage.component._writer.flush(_WAIT_S)


def results(client: Any) -> list[str]:
    return [fields["first"] for _, fields in client.xrange(RUN.results_of("1"))]


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
    entries = [fields for _, fields in client.xrange(RUN.results_of("1"))]
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


def test_a_batch_that_does_not_follow_is_refused_and_reported_once(
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
    reports = sink.give(1, 1)
    sink.flush()
    reports += [each for each in sink.stage.messages() if each["command"] == "ack"]
    assert reports == [{"command": "ack", "id": "t1"}]
    redis_server.freeze()
    assert sink.give(1, 3) == []
    redis_server.stop()
    sink.stage.component._writer._session.wait_answered(_WAIT_S)
    reports = sink.tick()
    assert [each["command"] for each in reports] == ["fail", "error"]
    assert reports[0]["id"] == "t3"
    assert "rows without a result come again in a new epoch" in reports[1]["msg"]


def test_a_full_redis_is_reported_once_and_survived(stage: Callable[..., Any], redis_server: Any) -> None:
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


@pytest.mark.parametrize("replay", [False, True])
def test_a_redis_that_forgot_the_script_is_given_it_again(
    stage: Callable[..., Any], redis_server: Any, *, replay: bool
) -> None:
    """In the next epoch all that was refused is written, once; what was missing is reported."""
    client = redis_server.client()
    client.hset(RUN.progress, "epoch", 1)
    sink = Sink(stage, conf(redis_server, **{REPLAY_KEY: replay}))
    sink.give(1, 1)
    sink.flush()
    client.script_flush()
    sink.stage.messages()
    reports = sink.give(1, 3)
    session = sink.stage.component._writer._session
    if session is not None:  # the answer may be there before `give` returns
        session.wait_answered(_WAIT_S)
    reports += sink.tick()
    (error,) = [each["msg"] for each in reports if each["command"] == "error"]
    assert "NOSCRIPT" in error
    assert [each["command"] for each in reports if each.get("id") == "t3"] == ["fail" if replay else "ack"]
    client.hset(RUN.progress, mapping={"epoch": 2, "seen:1": 0})
    sink.stage.component._writer._next_try = 0.0  # as if the connection had been older than a second
    sink.give(2, 1, released=2)
    sink.give(2, 3, released=2)
    sink.flush()
    assert results(client) == ["1", "3"]
    assert client.hget(RUN.progress, "released:1") == "4"
