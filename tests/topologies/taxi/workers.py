"""The components as real processes on a real Redis; this file plays the part of Storm's workers."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from topologies.submission import write_jar
from topologies.taxi.settings import QUERIES_KEY, REDIS_KEY, RUN_KEY, SHARES_KEY
from topologies.taxi.topology import taxi_topology

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEARTBEAT = {"id": "0", "comp": "__system", "stream": "__heartbeat", "task": -1, "tuple": []}
_TICK = {"id": "0", "comp": "__system", "stream": "__tick", "task": -1, "tuple": [1]}
Task = tuple[str, int]


def component_process(class_path: str, folder: Path, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """Start a component as Storm does, in a folder with the topology's code."""
    return subprocess.Popen(
        [str(Path(sys.prefix) / "bin" / "streamparse_run"), class_path],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


class Process:
    """One component behind pipes, spoken to as Storm's ShellSpout and ShellBolt do."""

    def __init__(self, spec: Any, number: int, resources: Path, conf: dict[str, Any]) -> None:
        self.name = spec.name
        self._lock = threading.Lock()
        path = f"{spec.component_cls.__module__}.{spec.component_cls.__name__}"
        self._process = component_process(path, resources)
        pids = resources.parent / f"pids-{self.name}-{number}"
        pids.mkdir()
        self.send(
            {"pidDir": str(pids), "conf": conf, "context": {"taskid": number, "componentid": self.name}}
        )
        assert self.read() == {"pid": self._process.pid}

    def send(self, message: dict[str, Any]) -> None:
        """Write a message; one to a process that is gone is lost."""
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._process.stdin.write(orjson.dumps(message) + b"\nend\n")
                self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return

    def read(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        lines = []
        while (line := self._process.stdout.readline()) != b"end\n":
            if not line:
                return None
            lines.append(line)
        message: dict[str, Any] = orjson.loads(b"".join(lines))
        return message

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Close the pipe, as a worker that goes away does, and return the exit status."""
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.close()
        return self._process.wait()


class Workers:
    """All tasks, wired as the topology's Thrift structure says."""

    def __init__(
        self,
        folder: Path,
        redis: str,
        run: str,
        *,
        queries: tuple[str, ...] = ("1",),
        tasks: Mapping[str, int] | None = None,
        shares: int = 1,
        conf: Mapping[str, object] | None = None,
    ) -> None:
        jar = folder / "taxi.jar"
        write_jar(jar)
        with zipfile.ZipFile(jar) as archive:
            archive.extractall(folder)
        self._folder = folder / "resources"
        self._conf = {
            "topology.name": "test",
            REDIS_KEY: redis,
            RUN_KEY: run,
            QUERIES_KEY: ",".join(queries),
            SHARES_KEY: shares,
            **(conf or {}),
        }
        topology = taxi_topology(queries, tasks or {})
        self._specs = {spec.name: spec for spec in topology.specs}
        self._numbers = itertools.count(1)
        self.tasks = [(spec.name, index) for spec in topology.specs for index in range(spec.par)]
        self.processes = {task: self._started(task) for task in self.tasks}
        self.errors: list[str] = []
        self.synced: set[Task] = set()
        self._fields = {
            (spec.name, name): list(stream.output_fields)
            for spec in topology.specs
            for name, stream in (spec.common.streams or {}).items()
        }
        self._targets: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        for name, bolt in topology.thrift_bolts.items():
            for stream, grouping in bolt.common.inputs.items():
                self._targets.setdefault((stream.componentId, stream.streamId), []).append((name, grouping))
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        for task in self.tasks:
            self._serve(task)
        ticker = threading.Thread(target=self._tick)
        ticker.start()
        self._threads.append(ticker)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self.exit_statuses = {task: process.end() for task, process in self.processes.items()}
        for thread in self._threads:
            thread.join()

    def kill(self, task: Task) -> None:
        """SIGKILL a task's process and start another one."""
        self.processes[task].kill()
        self.processes[task] = self._started(task)
        self._serve(task)

    def _started(self, task: Task) -> Process:
        return Process(self._specs[task[0]], next(self._numbers), self._folder, self._conf)

    def _serve(self, task: Task) -> None:
        target = self._spout if task[0] == "dataSource" else self._bolt
        thread = threading.Thread(target=target, args=(task, self.processes[task]))
        thread.start()
        self._threads.append(thread)

    def _tick(self) -> None:
        while not self._stop.wait(1.0):
            for task, process in list(self.processes.items()):
                if task[0].startswith("global"):
                    process.send(_TICK)

    def _spout(self, task: Task, process: Process) -> None:
        while not self._stop.is_set():
            process.send({"command": "next"})
            emitted = False
            while (message := process.read()) is not None and message["command"] != "sync":
                emitted |= self._handle(task, message)
            if message is None:
                return
            if not emitted:
                self._stop.wait(0.001)  # Storm's wait strategy

    def _bolt(self, task: Task, process: Process) -> None:
        process.send(_HEARTBEAT)
        while (message := process.read()) is not None:
            if message["command"] == "sync":
                self.synced.add(task)
            self._handle(task, message)

    def _handle(self, task: Task, message: dict[str, Any]) -> bool:
        if message["command"] == "error":
            self.errors.append(f"{task}: {message['msg']}")
        if message["command"] != "emit":
            return False
        stream, values = message.get("stream", "default"), message["tuple"]
        for name, grouping in self._targets.get((task[0], stream), []):
            number = self._choose(task, stream, name, grouping, values)
            self.processes[name, number].send(
                {"id": "1", "comp": task[0], "stream": stream, "task": 1, "tuple": values}
            )
        return True

    def _choose(self, task: Task, stream: str, name: str, grouping: Any, values: list[Any]) -> int:
        count = sum(other == name for other, _ in self.tasks)
        if grouping.fields:
            fields = self._fields[task[0], stream]
            return hash(tuple(values[fields.index(field)] for field in grouping.fields)) % count
        return 0 if grouping.fields is not None else random.randrange(count)
