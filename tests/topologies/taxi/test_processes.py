"""The components as real processes on a real Redis: exact answers, whatever is killed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from formats.semantics import Semantics
from tests.reference.query1 import query1
from tests.reference.query2 import query2
from topologies.taxi.keys import Run
from topologies.taxi.taxi_collector import TaxiCollector
from topologies.taxi.trail import STAMPS

from .workers import Workers, component_process

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reference.query1 import Answers
    from topologies.taxi.taxi_collector import Summary

RUN = Run("processes")
_PIECE = 100
_WAIT_S = 60.0


def put(client: Any, lines: list[str], first: int, last: int) -> None:
    """Put rows [first, last] into Redis."""
    pipeline = client.pipeline(transaction=False)
    for n in range(first, last + 1, _PIECE):
        some = lines[n - 1 : min(n - 1 + _PIECE, last)]
        pipeline.xadd(RUN.rows, {"n": n, "lines": "\n".join(some)})
    pipeline.hset(RUN.feed, mapping={"fed": last})
    pipeline.execute()


def released(client: Any) -> int:
    values = client.hgetall(RUN.progress)
    return min((int(value) for key, value in values.items() if key.startswith("released:")), default=0)


def await_released(client: Any, row: int) -> None:
    pause = threading.Event()
    for _ in range(int(_WAIT_S / 0.02)):
        if released(client) >= row:
            return
        pause.wait(0.02)
    pytest.fail(f"row {row} was not released, only {released(client)}")


def assert_same(folder: Path, summary: Summary, answers: Answers) -> None:
    """The collected files are the reference's answers."""
    assert summary.faults == ()
    assert summary.reasons == dict(answers.rejected)
    with (folder / "results.csv").open(encoding="utf-8") as file:
        results = list(csv.DictReader(file))
    assert [int(row["n"]) for row in results] == answers.passed
    assert all(int(row["emit_us"]) <= int(row["done_us"]) for row in results)
    assert all(int(row["row_ms"]) <= int(row["result_ms"]) for row in results)
    with (folder / "trails.csv").open(encoding="utf-8") as file:
        trails = [[int(text) for text in line.values()] for line in csv.DictReader(file)]
    assert [trail[0] for trail in trails] == answers.passed
    stamps = STAMPS[summary.query]
    for trail in trails[::97]:
        way = [moment for moment, name in zip(trail[1:], stamps, strict=True) if not name.endswith("_clock")]
        assert way == sorted(way)
    tops = (folder / "tops.csv").read_text(encoding="utf-8").splitlines()
    assert tops == [row for _, row in answers.tops]
    output = (folder / "output.csv").read_text(encoding="utf-8").splitlines()
    assert [row.rpartition(",")[0] for row in output] == tops
    assert all(float(row.rpartition(",")[2]) > 0 for row in output)
    states = [json.loads(line) for line in (folder / "states.jsonl").open(encoding="utf-8")]
    assert states == [{"n": n, "dropoff": time, "state": state} for n, time, state in answers.states]


def test_processes_answer_both_queries_as_the_reference_does(
    tmp_path: Path, redis_server: Any, lines: list[str]
) -> None:
    """Several tasks and shares; nothing is sent twice, and no component complains."""
    client = redis_server.client()
    lines = lines[:4_000]
    tasks = {"parser": 2, "countByWindow": 2, "emptyTaxis": 2}
    workers = Workers(
        *(tmp_path, str(redis_server.address), RUN.id),
        queries=("1", "2"),
        tasks=tasks,
        shares=2,
    )
    with workers:
        put(client, lines, 1, len(lines))
        client.xadd(RUN.rows, {"n": len(lines) + 1, "end": 1})
        first, second = TaxiCollector(client, RUN, _WAIT_S, lambda *_: None).collect(tmp_path / "out")
    assert workers.errors == []
    assert workers.synced == {task for task in workers.tasks if task[0] != "dataSource"}
    assert set(workers.exit_statuses.values()) == {2}  # streamparse's status when Storm went away
    assert (first.epochs, first.replayed, first.rows) == (1, 0, 4_000)
    assert first.semantics == Semantics().document()
    assert_same(tmp_path / "out", first, query1(lines))
    assert_same(tmp_path / "out" / "query2", second, query2(lines))


def test_killed_processes_and_a_restarted_redis_change_no_answer(
    tmp_path: Path, lasting_redis: Any, lines: list[str]
) -> None:
    """SIGKILL to components one after the other, and to Redis, which keeps what it took."""
    client = lasting_redis.client()
    lines = lines[:5_500]
    workers = Workers(
        tmp_path,
        *(str(lasting_redis.address), RUN.id),
        tasks={"countByWindow": 2},
        shares=3,
        conf={"taxi.stall.seconds": 0.5},
    )
    victims = [("countByWindow", 1), ("globalRank", 0), ("dataSource", 0), ("metronome", 0)]
    with workers:
        for index, victim in enumerate(victims):
            put(client, lines, 1 + 1_000 * index, 1_000 * (index + 1))
            await_released(client, 1_000 * index + 1)
            workers.kill(victim)
        await_released(client, 4_000)
        put(client, lines, 4_001, 5_000)
        await_released(client, 4_101)
        lasting_redis.stop()
        lasting_redis.start()
        put(client, lines, 5_001, len(lines))
        client.xadd(RUN.rows, {"n": len(lines) + 1, "end": 1})
        (summary,) = TaxiCollector(client, RUN, _WAIT_S, lambda *_: None).collect(tmp_path / "out")
    assert summary.epochs >= 4
    assert summary.replayed > 0
    assert_same(tmp_path / "out", summary, query1(lines))


def test_a_print_in_a_component_does_not_reach_the_protocol(tmp_path: Path) -> None:
    """Standard output belongs to Storm: `print` goes to standard error."""
    code = (
        "from topologies.taxi.components.cleaning import Parser\n"
        "component = Parser()\n"
        "print('stray')\n"
        "component.run()\n"
    )
    handshake = {"pidDir": str(tmp_path), "conf": {}, "context": {"taskid": 1, "componentid": "parser"}}
    values = [1, 1, 1, 2, "1 1 - 0", "5", "1 7-0", 0, "x"]
    row = {"id": "7", "comp": "dataSource", "stream": "default", "task": 1, "tuple": values}
    text = "".join(f"{json.dumps(message)}\nend\n" for message in (handshake, row))
    done = subprocess.run([sys.executable, "-c", code], input=text.encode(), capture_output=True, check=False)
    assert b"stray" not in done.stdout
    assert b"stray" in done.stderr
    messages = [json.loads(part) for part in done.stdout.decode().split("\nend\n") if part]
    assert {"command": "ack", "id": "7"} in messages
    (emitted,) = [message["tuple"] for message in messages if message.get("command") == "emit"]
    assert emitted[:5] == values[:5]
    assert emitted[-1] == "!columns"


def test_a_bad_tuple_fails_and_the_component_lives_on(tmp_path: Path) -> None:
    """An exception becomes an error of Storm, which does not quote it, and a failed tuple."""
    good = [1, 1, 1, 2, "1 1 - 0", "5", "1 7-0", 0, "x"]
    messages: list[dict[str, Any]] = [
        {"pidDir": str(tmp_path), "conf": {}, "context": {"taskid": 1, "componentid": "parser"}},
        {"id": "bad", "comp": "f", "stream": "default", "task": 1, "tuple": ["long " * 1_000]},
        {"id": "good", "comp": "f", "stream": "default", "task": 1, "tuple": good},
    ]
    process = component_process(
        "topologies.taxi.components.cleaning.Parser", tmp_path, stderr=subprocess.DEVNULL
    )
    out, _ = process.communicate("".join(f"{json.dumps(each)}\nend\n" for each in messages).encode())
    answers = [json.loads(part) for part in out.decode().split("\nend\n") if part]
    commands = [(answer.get("command"), answer.get("id")) for answer in answers]
    assert ("fail", "bad") in commands
    assert ("ack", "good") in commands
    (error,) = [answer["msg"] for answer in answers if answer.get("command") == "error"]
    assert "TypeError" in error
    assert len(error) < 2_000
