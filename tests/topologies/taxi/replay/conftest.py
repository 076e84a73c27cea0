"""Lines to replay, and a stand-in for the topology."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from topologies.taxi.keys import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BEGIN = datetime(2013, 1, 1, tzinfo=UTC)


def line_at(number: int, second: int) -> str:
    dropoff = BEGIN + timedelta(seconds=second)
    pickup = dropoff - timedelta(minutes=5)
    return (
        f"M{number},L{number},{pickup:%Y-%m-%d %H:%M:%S},{dropoff:%Y-%m-%d %H:%M:%S},300,1.20,"
        f"-73.9{number % 100:02},40.75,-73.98,40.77,CSH,5.50,0.50,0.50,1.00,0.00,7.50"
    )


@pytest.fixture
def line() -> Callable[[int, int], str]:
    """The line of a trip: its number, and its drop-off in seconds."""
    return line_at


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows that are half a second apart; returns the file."""

    def write(count: int, name: str = "rows.csv") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line_at(n, n // 2)}\n" for n in range(1, count + 1)))
        return path

    return write


class Side:
    """What is beside the feeder: Redis as it sees it, and a topology that does nothing by itself."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.run = Run("r1")

    def client(self) -> Redis:
        """A client as the commands make it."""
        address = self.server.address
        return Redis(host=address.host, port=address.port, socket_timeout=5.0, retry=Retry(NoBackoff(), 0))

    def release(self, row: int, query: str = "1", rebuild_id: str | None = None) -> None:
        self.client().hset(self.run.progress, f"released:{query}", str(row))
        if rebuild_id is not None:
            self.client().hset(self.run.progress, f"rebuild_id:{query}", rebuild_id)

    def entries(self) -> list[dict[str, Any]]:
        """The stream's entries: `n`, and `lines` as a list, or `end`."""
        entries = []
        for _, fields in self.client().xrange(self.run.rows):
            entry: dict[str, Any] = {"n": int(fields[b"n"])}
            if b"lines" in fields:
                entry["lines"] = fields[b"lines"].split(b"\n")
            if b"end" in fields:
                entry["end"] = fields[b"end"]
            entries.append(entry)
        return entries

    def rows(self) -> list[bytes]:
        """The lines of all entries, which must follow each other; the end, if it is there, as None."""
        rows: list[bytes] = []
        for entry in self.entries():
            assert entry["n"] == len(rows) + 1
            rows.extend(entry.get("lines", []))
        return rows

    def ended(self) -> bool:
        entries = self.entries()
        assert all("end" not in entry for entry in entries[:-1])
        return bool(entries) and "end" in entries[-1]

    def feed(self) -> dict[str, str]:
        return {key.decode(): value.decode() for key, value in self.client().hgetall(self.run.feed).items()}


@pytest.fixture
def side(redis_server: Any) -> Side:
    return Side(redis_server)


@pytest.fixture
def topology(side: Side) -> Iterator[None]:
    """A topology that releases every row as soon as it is there."""
    over = threading.Event()

    def serve() -> None:
        client = side.client()
        at = "0"
        while not over.is_set():
            for _, entries in client.xread({side.run.rows: at}, block=20) or []:
                for entry_id, fields in entries:
                    at = entry_id
                    if b"lines" in fields:
                        last = int(fields[b"n"]) + fields[b"lines"].count(b"\n")
                        client.hset(side.run.progress, "released:1", last)

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    over.set()
    thread.join()
