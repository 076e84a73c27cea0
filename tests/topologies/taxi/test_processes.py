"""The eight components as real processes on a real Redis; this file plays the part of Storm's workers."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any, Self

import orjson
import pytest

from topologies.submit import write_jar
from topologies.taxi.collect import Collector
from topologies.taxi.feed import Feeder, FeedPlan
from topologies.taxi.keys import REDIS_KEY, RUN_KEY, Run
from topologies.taxi.topology import TaxiTopology
from topologies.taxi.trail import STAMPS

_HEARTBEAT = {"id": "0", "comp": "__system", "stream": "__heartbeat", "task": -1, "tuple": []}


class Process:
    """One component behind pipes, spoken to as Storm's ShellSpout and ShellBolt do."""

    def __init__(self, spec: Any, resources: Path, conf: dict[str, Any]) -> None:
        self.name = spec.name
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [
                str(Path(sys.prefix) / "bin" / "streamparse_run"),
                f"{spec.component_cls.__module__}.{spec.component_cls.__name__}",
            ],
            cwd=resources,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        pids = resources.parent / f"pids-{self.name}"
        pids.mkdir()
        context = {"taskid": 1, "componentid": self.name}
        self.send({"pidDir": str(pids), "conf": conf, "context": context})
        assert self.read() == {"pid": self._process.pid}

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(orjson.dumps(message) + b"\nend\n")
            self._process.stdin.flush()

    def read(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        lines = []
        while (line := self._process.stdout.readline()) != b"end\n":
            if not line:
                return None
            lines.append(line)
        message: dict[str, Any] = orjson.loads(b"".join(lines))
        return message

    def end(self) -> int:
        """Close the pipe, as a worker that goes away does, and return the exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait()


class Workers:
    """All components, wired as the topology's Thrift structure says."""

    def __init__(self, folder: Path, conf: dict[str, Any]) -> None:
        jar = folder / "taxi.jar"
        write_jar(jar)
        with zipfile.ZipFile(jar) as archive:
            archive.extractall(folder)
        conf = {"topology.name": "test", **conf}
        self.processes = {spec.name: Process(spec, folder / "resources", conf) for spec in TaxiTopology.specs}
        self.errors: list[str] = []
        self.synced: set[str] = set()
        self._targets: dict[tuple[str, str], list[str]] = {}
        for name, bolt in TaxiTopology.thrift_bolts.items():
            for stream in bolt.common.inputs:
                self._targets.setdefault((stream.componentId, stream.streamId), []).append(name)
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._spout if name == "dataSource" else self._bolt, args=(process,))
            for name, process in self.processes.items()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self.exit_statuses = {name: process.end() for name, process in self.processes.items()}
        for thread in self._threads:
            thread.join()

    def _spout(self, process: Process) -> None:
        while not self._stop.is_set():
            process.send({"command": "next"})
            emitted = False
            while (message := process.read()) is not None and message["command"] != "sync":
                emitted |= self._handle(process.name, message)
            if message is None:
                return
            if not emitted:
                self._stop.wait(0.001)  # Storm's wait strategy

    def _bolt(self, process: Process) -> None:
        process.send(_HEARTBEAT)
        while (message := process.read()) is not None:
            if message["command"] == "sync":
                self.synced.add(process.name)
            self._handle(process.name, message)

    def _handle(self, name: str, message: dict[str, Any]) -> bool:
        if message["command"] == "error":
            self.errors.append(f"{name}: {message['msg']}")
        if message["command"] != "emit":
            return False
        stream = message.get("stream", "default")
        for target in self._targets.get((name, stream), []):
            self.processes[target].send(
                {"id": "1", "comp": name, "stream": stream, "task": 1, "tuple": message["tuple"]}
            )
        return True


@pytest.fixture(scope="module")
def run() -> Run:
    return Run("processes")


def test_processes_answer_every_row_as_the_reference_does(
    tmp_path: Path, redis_server: Any, rows_file: Path, run: Run, expected: list[Any]
) -> None:
    """Rows, states, output rows and totals come out of Redis complete, in order, as in the reference."""
    conf = {REDIS_KEY: str(redis_server.address), RUN_KEY: run.id}
    client = redis_server.client()
    workers = Workers(tmp_path, conf)
    with workers:
        fed = Feeder(client, run, FeedPlan(fast_rows=9_900, rate_per_s=200.0), lambda _: None).feed(rows_file)
        summary = Collector(client, run, 60.0, lambda _: None).collect(tmp_path / "out")
    assert fed == 10_004
    assert (summary.rows, summary.passed, summary.rejected, summary.tops) == (10_004, 9_826, 178, 589)
    assert summary.faults == ()
    assert workers.errors == []
    assert workers.synced == {spec.name for spec in TaxiTopology.specs} - {"dataSource"}
    assert set(workers.exit_statuses.values()) == {2}  # streamparse's status when Storm went away

    with (tmp_path / "out" / "results.csv").open(encoding="utf-8") as file:
        results = list(csv.DictReader(file))
    assert [int(row["n"]) for row in results] == [answer.n for answer in expected]
    assert [row["paced"] for row in results] == ["1" if answer.n > 9_900 else "0" for answer in expected]
    assert all(int(row["emit_us"]) <= int(row["done_us"]) for row in results)
    assert all(int(row["row_ms"]) <= int(row["result_ms"]) for row in results)
    with (tmp_path / "out" / "trails.csv").open(encoding="utf-8") as file:
        trails = [[int(text) for text in line.values()] for line in csv.DictReader(file)]
    assert [trail[0] for trail in trails] == [answer.n for answer in expected]
    order = [stamp for stamp in range(1, len(STAMPS) + 1) if STAMPS[stamp - 1] != "countByWindow_clock"]
    for _, *moments in trails:
        way = [moments[stamp - 1] for stamp in order]
        assert way == sorted(way)
        assert 0 < moments[STAMPS.index("countByWindow_clock")] <= moments[STAMPS.index("countByWindow_out")]
    tops = (tmp_path / "out" / "tops.csv").read_text(encoding="utf-8").splitlines()
    assert tops == [answer.top for answer in expected if answer.top is not None]
    states = [json.loads(line) for line in (tmp_path / "out" / "states.jsonl").open(encoding="utf-8")]
    assert states == [
        {"n": answer.n, "dropoff": answer.dropoff, "state": [list(entry) for entry in answer.ranking]}
        for answer in expected
    ]


def test_a_print_in_a_component_does_not_reach_the_protocol(tmp_path: Path) -> None:
    """Standard output belongs to Storm: `print` goes to standard error."""
    code = (
        "from topologies.taxi.components.routes import Metronome\n"
        "component = Metronome()\n"
        "print('stray')\n"
        "component.run()\n"
    )
    handshake = {"pidDir": str(tmp_path), "conf": {}, "context": {"taskid": 1, "componentid": "metronome"}}
    row = {"id": "7", "comp": "filterByCoordinates", "stream": "progress", "task": 1, "tuple": [1, 1, 60, ""]}
    text = "".join(f"{json.dumps(message)}\nend\n" for message in (handshake, row))
    done = subprocess.run([sys.executable, "-c", code], input=text.encode(), capture_output=True, check=False)
    assert b"stray" not in done.stdout
    assert b"stray" in done.stderr
    messages = [json.loads(part) for part in done.stdout.decode().split("\nend\n") if part]
    assert {"command": "ack", "id": "7"} in messages
    assert [message["tuple"] for message in messages if message.get("command") == "emit"] == [[1, 1, 60, ""]]


def test_a_bad_tuple_fails_and_the_component_lives_on(tmp_path: Path) -> None:
    """An exception becomes an error of Storm and a failed tuple; the next tuple is processed."""
    messages: list[dict[str, Any]] = [
        {"pidDir": str(tmp_path), "conf": {}, "context": {"taskid": 1, "componentid": "metronome"}},
        {"id": "bad", "comp": "f", "stream": "progress", "task": 1, "tuple": ["too short"]},
        {"id": "good", "comp": "f", "stream": "progress", "task": 1, "tuple": [1, 1, 60, ""]},
    ]
    done = subprocess.run(
        [
            str(Path(sys.prefix) / "bin" / "streamparse_run"),
            "topologies.taxi.components.routes.Metronome",
        ],
        input="".join(f"{json.dumps(message)}\nend\n" for message in messages).encode(),
        capture_output=True,
        check=False,
    )
    answers = [json.loads(part) for part in done.stdout.decode().split("\nend\n") if part]
    commands = [(answer.get("command"), answer.get("id")) for answer in answers]
    assert ("fail", "bad") in commands
    assert ("ack", "good") in commands
    assert any(answer.get("command") == "error" and "ValueError" in answer["msg"] for answer in answers)
