"""Redis that is full or away is waited for, and no row is lost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from tests.topologies.taxi.replay.replayers import after, replayer
from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.pace import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topologies.taxi.replay.outcome import Progress


def test_a_full_redis_is_waited_for_and_reported(side: Any, write_rows: Callable[..., Path]) -> None:
    """Room that comes is used; without any the feeder ends, and the run can be gone on with."""
    path = write_rows(2_000)
    notes: list[str] = []
    client = side.client()

    def make_room(progress: Progress) -> None:
        notes.append(progress.note)
        if len(notes) == 3:
            client.config_set("maxmemory", "0")

    def fill(_: Progress) -> None:
        client.config_set("maxmemory", "1")

    with pytest.raises(FeedError, match=r"REDIS IS FULL .*, for 0\.1 s now; nothing is lost"):
        replayer(side, path, limits=Limits(10_000, 0.1), report=fill).run()
    assert 0 < len(side.rows()) < 2_000
    client.config_set("maxmemory", "0")
    standing_fed = len(side.rows())
    whole = replayer(side, path, report=make_room)
    whole._feed_all = after(lambda: client.config_set("maxmemory", "1"), whole._feed_all)  # type: ignore[method-assign]
    assert whole.run(resume=True).begun_at == standing_fed
    assert any("REDIS IS FULL" in note for note in notes)
    assert side.rows() == path.read_bytes().splitlines()


def test_rows_that_no_query_needs_make_room(side: Any, write_rows: Callable[..., Path]) -> None:
    """When Redis is full, trimming comes before waiting."""
    path = write_rows(3_000)

    class FullRedis(Redis):
        """Full as long as it holds six entries."""

        def execute_command(self, *args: Any, **options: Any) -> Any:
            if args[0] == "EVALSHA" and self.xlen(side.run.rows) >= 6:
                newest = side.client().xrevrange(side.run.rows, count=1)[0][0].decode()
                side.release(3_000, "1", newest)
                raise OutOfMemoryError("OOM command not allowed")
            return super().execute_command(*args, **options)

    address = side.server.address
    client = FullRedis(host=address.host, port=address.port)
    outcome = replayer(side, path, limits=Limits(10_000, 1.0, trim=True), client=client).run()
    assert (outcome.fed, outcome.ended) == (3_000, True)
    assert len(side.entries()) < 13


def test_redis_that_restarts_is_waited_for(side: Any, write_rows: Callable[..., Path]) -> None:
    """With the data that it had the rows go on."""
    path = write_rows(1_500)
    held, away = threading.Event(), threading.Event()

    def report(progress: Progress) -> None:
        if progress.fed == 500:
            held.set()
        if progress.note.startswith("Redis is away"):
            away.set()

    result: list[Any] = []

    def run() -> None:
        result.append(replayer(side, path, limits=Limits(500, 60.0), report=report).run())

    thread = threading.Thread(target=run)
    thread.start()
    assert held.wait(20.0)
    side.client().save()
    side.server.stop()
    assert away.wait(20.0)
    side.server.start()
    side.release(10_000)
    thread.join()
    assert result[0].ended
    assert side.rows() == path.read_bytes().splitlines()
