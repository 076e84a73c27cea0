"""Fixtures of the monitoring tests: a simulated network, a real ZooKeeper, agents as processes."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import socket
import subprocess
import sys
import threading
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.monitoring.simulated_agents import Simulation, table_5_ms
from formats.packed_content import unpack
from monitoring.zookeeper.publisher import Publisher, PublisherOptions
from tests.monitoring.zookeeper.publisher_peers import Peers
from tests.monitoring.zookeeper_server import PATIENCE_S, ROOT, ZooKeeperServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def simulation() -> type[Simulation]:
    return Simulation


@pytest.fixture
def demo_delays_ms() -> dict[tuple[str, str], float]:
    """Seven hosts in three data centres."""
    return table_5_ms({"uniroma2": 3, "west1": 2, "us": 2})


@pytest.fixture
def table_5_delays_ms() -> dict[tuple[str, str], float]:
    """Thirty-two hosts in seven data centres."""
    return table_5_ms({"uniroma2": 3, "west1": 5, "west2": 5, "west3": 5, "west4": 5, "north1": 5, "us": 4})


class RecordingLog:
    """A log whose events can be awaited."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._changed = threading.Condition()

    def info(self, event: str, **fields: Any) -> None:
        with self._changed:
            self.events.append((event, fields))
            self._changed.notify_all()

    warning = info

    def names(self) -> list[str]:
        return [event for event, _ in self.events]

    def await_event(self, name: str, count: int = 1) -> None:
        with self._changed:
            came = self._changed.wait_for(lambda: self.names().count(name) >= count, PATIENCE_S)
        assert came, f"no {name} number {count} among {self.names()}"


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


@pytest.fixture
def make_log() -> type[RecordingLog]:
    return RecordingLog


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    """One server for all tests that leave it running; each test has a root of its own."""
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def no_zookeeper(tmp_path: Path) -> Iterator[ZooKeeperServer]:
    """A server that the test starts and stops itself."""
    server = ZooKeeperServer(tmp_path / "zookeeper")
    yield server
    server.stop()


class Nodes:
    """A view of the readings in ZooKeeper on which a test can wait."""

    def __init__(self, client: Any, root: str) -> None:
        self.client = client
        self.folder = f"{root}/nodes"

    def path(self, host: str) -> str:
        return f"{self.folder}/{host}"

    def wait(self, host: str, rule: Callable[[dict[str, Any] | None], bool]) -> dict[str, Any]:
        """Wait until the reading (None while there is none) obeys the rule."""
        met: queue.Queue[dict[str, Any] | None] = queue.Queue()

        def look(data: bytes | None, _stat: Any) -> bool:
            reading = None if data is None else json.loads(unpack(data))
            if rule(reading):
                met.put(reading)
                return False  # ends the watch
            return True

        self.client.DataWatch(self.path(host), look)
        return met.get(timeout=PATIENCE_S) or {}


@pytest.fixture
def root() -> str:
    return f"/{uuid.uuid4().hex}"


@pytest.fixture
def nodes(zookeeper: ZooKeeperServer, root: str) -> Iterator[Nodes]:
    client = zookeeper.client()
    yield Nodes(client, root)
    client.stop()
    client.close()


class AgentProcess:
    """An agent as the lab starts it."""

    def __init__(self, *arguments: str) -> None:
        self.lines: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "agent", *arguments],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                with contextlib.suppress(ValueError):
                    self.lines.append(json.loads(line))
                self._changed.notify_all()

    def await_event(self, name: str, count: int = 1) -> None:
        with self._changed:
            came = self._changed.wait_for(
                lambda: [line["event"] for line in self.lines].count(name) >= count, PATIENCE_S
            )
        assert came, f"no {name} number {count} among {self.lines}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def start_agent(root: str) -> Iterator[Callable[..., AgentProcess]]:
    started: list[AgentProcess] = []

    def start(host: str, zookeeper: str, *arguments: str) -> AgentProcess:
        port = str(free_port(socket.SOCK_DGRAM))
        local = ("--root", root, "--bind", "127.0.0.1", "--port", port, "--interval-ms", "100")
        agent = AgentProcess("--host", host, "--zookeeper", zookeeper, *local, *arguments)
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.kill()


@pytest.fixture
def patience_s() -> float:
    return PATIENCE_S


@pytest.fixture
def fake_clock() -> Any:
    """A clock that moves when a test moves it: `clock.now_s += 1`; `clock()` reads it."""

    class Clock:
        now_s = 0.0

        def __call__(self) -> float:
            return self.now_s

    return Clock()


@pytest.fixture
def publisher(make_log: Any, root: str) -> Iterator[Callable[..., Any]]:
    started = []

    def start(zookeeper: Any, host: str, **options: Any) -> Any:
        settings = {"session_timeout_s": 4.0, "list_pause_s": 0.05, "retry_s": 0.1, **options}
        peers, log = Peers(), make_log()
        partners: queue.Queue[tuple[str, ...]] = queue.Queue()
        publisher: Any = Publisher(
            PublisherOptions(zookeeper.address, root, host, **settings), peers, partners.put, log
        )
        publisher.peers, publisher.partners, publisher.log = peers, partners, log
        publisher.start()
        started.append(publisher)
        return publisher

    yield start
    for publisher in started:
        publisher.stop()
