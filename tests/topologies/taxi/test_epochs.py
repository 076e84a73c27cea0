"""The source's side of Redis: epochs begin when they have to, outages are reported and survived.

On a real Redis; who is asked and what is believed is tried on scripted answers in test_epoch_reader.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from topologies.batches.acking import REPLAY_KEY
from topologies.batches.header import Header, QueryStart
from topologies.taxi.keys import Run
from topologies.taxi.settings import REDIS_KEY, RUN_KEY, STALL_KEY

from .waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable


RUN = Run("r1")
_STALL_S = 0.3


def conf(redis_server: Any, **more: Any) -> dict[str, Any]:
    return {REDIS_KEY: str(redis_server.address), RUN_KEY: RUN.id, STALL_KEY: _STALL_S, **more}


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

    def of(self, nth: int) -> list[Header]:
        """The batches of this source's nth epoch."""
        epochs = sorted({each.epoch for each in self.batches})
        return [each for each in self.batches if each.epoch in epochs[nth - 1 : nth]]

    def until_row(self, nth: int, row: int) -> None:
        self.until(lambda: any(each.next > row for each in self.of(nth)))

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


def come_through(client: Any, row: int) -> None:
    """Let rows up to this one be worked off in the epoch that is."""
    client.hset(RUN.progress, "seen:1", row)


def test_a_source_sends_what_is_there_and_goes_on_with_what_comes(source: Any, redis_server: Any) -> None:
    """Once the first row has come through, it never waits; an entry that is none is reported."""
    client = redis_server.client()
    put(client, 1)
    client.xadd(RUN.rows, {"n": "x"})
    each = source(conf(redis_server, **{STALL_KEY: 60}))
    each.until_row(1, 1)
    come_through(client, 1)
    each.until_row(1, 2)
    put(client, 3)
    each.until_row(1, 4)
    client.xadd(RUN.rows, {"n": 5, "end": 1})
    each.until_row(1, 5)
    assert [(header.first, header.next) for header in each.batches[:2]] == [(1, 2), (2, 3)]
    assert len(each.errors) == 1
    assert client.hgetall(RUN.progress)["epochs"] == "1"


def test_without_progress_a_new_epoch_begins_at_the_rebuild_point(source: Any, redis_server: Any) -> None:
    """The entry that holds it is read again, later ones too, and it is said how many rows that are."""
    client = redis_server.client()
    ids = [put(client, first) for first in (1, 3, 5)]
    each = source(conf(redis_server))
    each.until_row(1, 1)
    come_through(client, 1)
    each.until_row(1, 6)
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
    each.until_row(2, 4)
    again = each.of(2)
    assert again[0].origin == again[0].first == 4
    assert again[0].query("1") == QueryStart(4, 77, 4)
    come_through(client, 4)
    each.until_row(2, 6)
    assert [header.first for header in each.of(2)] == [4, 5]
    assert re.match(r"no row was worked off for 0\.[3-9] s", each.errors[0])
    assert [group["name"] for group in client.xinfo_groups(RUN.rows)] == [f"epoch-{again[0].epoch}"]
    each.until(lambda: client.hget(RUN.progress, "replayed") == "3")


def test_while_no_row_comes_through_each_epoch_sends_one_row_again(source: Any, redis_server: Any) -> None:
    """However many there are from which the windows are rebuilt; a source that takes over counts them too."""
    client = redis_server.client()
    put(client, 1, count=500)
    old = source(conf(redis_server))
    old.until_row(1, 1)
    come_through(client, 1)
    old.until_row(1, 500)
    old.until_row(4, 1)
    assert [[(header.first, header.next) for header in old.of(nth)] for nth in (2, 3)] == [[(1, 2)]] * 2
    old.stop()
    again = int(client.hget(RUN.progress, "replayed"))
    assert 2 <= again < 10
    new = source(conf(redis_server, **{STALL_KEY: 60}))
    new.until_row(1, 1)
    come_through(client, 1)
    new.until_row(1, 500)
    new.until(lambda: client.hget(RUN.progress, "replayed") == str(again + 500))


def test_what_holds_the_run_is_written_to_redis_until_it_goes_on(source: Any, redis_server: Any) -> None:
    """From the second epoch in vain on, for who collects its results."""
    client = redis_server.client()
    put(client, 1)
    each = source(conf(redis_server))
    each.until(lambda: bool(client.hget(RUN.progress, "fault")))
    stuck = "with rows up to 1 under way: row 1 is the first not worked off"
    sentence = rf"no row was worked off for [\d.]+ s, {stuck} after \d epochs in a row"
    assert re.fullmatch(sentence, client.hget(RUN.progress, "fault"))
    each.until_row(3, 1)
    come_through(client, 1)
    each.until(lambda: not client.hexists(RUN.progress, "fault"))


def test_what_is_worked_off_is_waited_for_no_more(source: Any, redis_server: Any) -> None:
    """A quiet stream begins no epoch."""
    client = redis_server.client()
    put(client, 1, count=1)
    each = source(conf(redis_server))
    each.until_row(1, 1)
    come_through(client, 1)
    begin_s = time.monotonic()
    each.until(lambda: time.monotonic() - begin_s > 3 * _STALL_S)
    assert client.hget(RUN.progress, "epochs") == "1"


def test_a_failed_batch_begins_an_epoch_at_once_but_one_of_an_earlier_does_not(
    source: Any, redis_server: Any
) -> None:
    """With acking, however long the stall time is."""
    client = redis_server.client()
    put(client, 1)
    each = source(conf(redis_server, **{REPLAY_KEY: True, STALL_KEY: 60}))
    (message,) = _emits(each.stage)
    each.stage.run({"command": "fail", "id": message["id"]})
    each.until_row(1, 1)
    come_through(client, 1)
    assert str(each.batches[0].epoch) > message["id"].split(" ")[0]
    each.stage.run({"command": "fail", "id": message["id"]})
    put(client, 3)
    each.until_row(1, 4)
    assert client.hget(RUN.progress, "epochs") == "2"


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
    old.until_row(1, 1)
    new = source(conf(redis_server, **{STALL_KEY: 60}))
    new.until_row(1, 1)
    old.until(lambda: old.stage.component._superseded)
    old.until_row(2, 1)
    assert new.errors == []


def test_two_sources_of_an_idle_run_leave_it_alone(source: Any, redis_server: Any) -> None:
    """One that was superseded begins no epoch while all rows are worked off, but does when more come."""
    client = redis_server.client()
    put(client, 1, count=1)
    old = source(conf(redis_server))
    old.until_row(1, 1)
    new = source(conf(redis_server))
    new.until_row(1, 1)
    come_through(client, 1)
    old.until(lambda: old.stage.component._superseded)
    asked = old.stage.component._reader._wanted
    old.until(lambda: old.stage.component._reader._wanted >= asked + 3)
    new.next()
    assert not new.stage.component._superseded
    assert client.hget(RUN.progress, "epochs") == "2"
    put(client, 2)  # which the new one does not send: it is not asked to any more
    old.until_row(2, 1)
    assert client.hget(RUN.progress, "epochs") == "3"


def test_an_outage_of_redis_is_reported_once_and_rows_come_again(source: Any, lasting_redis: Any) -> None:
    """A new epoch begins as soon as Redis is back, as rows under way are lost."""
    put(lasting_redis.client(), 1)
    each = source(conf(lasting_redis, **{STALL_KEY: 60}))
    each.until_row(1, 1)
    lasting_redis.stop()
    each.until(lambda: bool(each.errors))
    lasting_redis.start()
    each.until_row(2, 1)
    (error,) = each.errors
    assert "reading rows: Redis 127.0.0.1" in error


def test_a_redis_that_lost_its_data_is_reported(source: Any, redis_server: Any) -> None:
    """And which rows cannot be had any more; nothing is sent for them."""
    put(redis_server.client(), 1)
    each = source(conf(redis_server, **{STALL_KEY: 60}))
    each.until_row(1, 1)
    redis_server.stop()
    redis_server.start()
    put(redis_server.client(), 3)
    each.until(lambda: len(each.errors) >= 3)
    epoch = each.batches[0].epoch
    assert f"has lost its data: it knows epoch 0 of run r1, which was in epoch {epoch}" in each.errors[1]
    assert each.errors[2].startswith(
        "rows 1 to 2 of run r1 are not in Redis any more, the next there is row 3"
    )
    assert each.errors[2].endswith(
        "begin a new run: `taxi submit` and `taxi replay` (or `feed`) with another run id"
    )
    until(lambda: redis_server.client().hget(RUN.progress, "fault") == each.errors[2])
    assert {header.epoch for header in each.batches} == {epoch}


def test_an_epoch_is_above_all_before_it_whatever_redis_and_the_source_remember(
    source: Any, redis_server: Any
) -> None:
    """Redis' time makes it so; where its clock went back, one more than the highest that is known."""
    client = redis_server.client()
    put(client, 1)
    source(conf(redis_server)).until_row(1, 1)
    first = int(client.hget(RUN.progress, "epoch"))
    client.hset(RUN.progress, "epoch", 3)
    again = source(conf(redis_server))
    again.until_row(1, 1)
    assert again.batches[0].epoch > first
    client.hset(RUN.progress, "epoch", 2**52)
    again = source(conf(redis_server))
    again.until_row(1, 1)
    assert again.batches[0].epoch == 2**52 + 1
    assert client.hget(RUN.progress, "epoch") == str(2**52 + 1)
