"""Query 2 as real processes on a real Redis, some of which are killed."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.reference.query2 import query2
from tests.topologies.taxi.workers import Workers
from topologies.taxi.keys import Run
from topologies.taxi.taxi_collector import TaxiCollector

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run("areas")
PIECE = 600
PATIENCE_S = 60.0
VICTIMS = (("emptyTaxis", 0), ("profitability", 1), ("globalAreaRank", 0))


def put(client: Any, lines: list[str], first: int) -> None:
    """Put `PIECE` rows into Redis."""
    for n in range(first, first + PIECE, 100):
        client.xadd(RUN.rows, {"n": n, "lines": "\n".join(lines[n - 1 : n + 99])})
    client.hset(RUN.feed, "fed", first + PIECE - 1)


def await_released(client: Any, row: int) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if int(client.hget(RUN.progress, "released:2") or 0) >= row:
            return
        pause.wait(0.02)
    pytest.fail(f"row {row} was not released")


def test_killed_processes_change_no_answer(tmp_path: Path, redis_server: Any, lines: list[str]) -> None:
    """SIGKILL to the components of query 2 in the midst of rows, one after the other."""
    client = redis_server.client()
    lines = lines[: PIECE * len(VICTIMS)]
    workers = Workers(
        tmp_path,
        *(str(redis_server.address), RUN.id),
        queries=("2",),
        tasks={"profitability": 2},
        shares=2,
        conf={"taxi.stall.seconds": 0.5},
    )
    with workers:
        for piece, victim in enumerate(VICTIMS):
            put(client, lines, 1 + piece * PIECE)
            await_released(client, 1 + piece * PIECE)
            workers.kill(victim)
        client.xadd(RUN.rows, {"n": len(lines) + 1, "end": 1})
        (summary,) = TaxiCollector(client, RUN, PATIENCE_S, lambda *_: None).collect(tmp_path / "out")
    answers = query2(lines)
    found = tmp_path / "out" / "query2"
    assert summary.epochs > 1
    assert (found / "tops.csv").read_text(encoding="utf-8").splitlines() == [row for _, row in answers.tops]
    states = [json.loads(line) for line in (found / "states.jsonl").open(encoding="utf-8")]
    assert [(each["n"], each["dropoff"], each["state"]) for each in states] == answers.states
