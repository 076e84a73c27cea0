"""Shared helpers: the real rows, a real Redis, and the components without Storm."""

from __future__ import annotations

import gzip
import io
import logging
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from pystorm.component import Tuple
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from formats.address import Address
from tests.topologies.stand_in import serving
from topologies.taxi.topology import taxi_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.topologies.stand_in import StandIn

TOPOLOGY = taxi_topology(("1", "2"), {})
ROWS = Path(__file__).parents[2] / "data" / "debs2015" / "debs2015_20day_head10004.csv.gz"


@pytest.fixture(scope="session")
def rows_file() -> Path:
    return ROWS


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """The 10,004 real rows, in file order."""
    with gzip.open(ROWS, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer:
    """A redis-server of its own on a free loopback port; stopped by its process id."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self._folder = folder
        self._settings = settings or ("--appendonly", "no")
        self.address = Address("127.0.0.1", free_port())
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *("redis-server", "--port", str(self.address.port), "--bind", "127.0.0.1"),
                *("--save", "", "--dir", str(self._folder), *self._settings),
            ],
            stdout=subprocess.DEVNULL,
        )
        retry = Retry(ConstantBackoff(0.02), 500, (RedisConnectionError, BusyLoadingError))
        with Redis(port=self.address.port, retry=retry) as client:
            client.ping()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def client(self) -> Redis:
        return Redis(host=self.address.host, port=self.address.port, decode_responses=True)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def lasting_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """One that keeps what it took when it is stopped and started."""
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    yield server
    server.stop()


class Stage:
    """One component in this process: gives it tuples, takes what it emits.

    All values pass through JSON, as between a component and its worker, and have to be flat.
    """

    def __init__(self, name: str, conf: dict[str, Any]) -> None:
        spec = next(spec for spec in TOPOLOGY.specs if spec.name == name)
        self.name = name
        self._output = io.BytesIO()
        self.component = spec.component_cls(input_stream=io.BytesIO(), output_stream=self._output)
        handlers = list(logging.getLogger().handlers)
        self.component._setup_component({"topology.name": "test"}, {"taskid": 1, "componentid": name})
        logging.getLogger().handlers = handlers  # pystorm adds one per component to the process' root logger
        self.component.initialize(conf, {})
        self.errors: list[str] = []
        self._take()

    def process(self, source: str, values: list[Any], stream: str = "default") -> list[tuple[str, list[Any]]]:
        """Return what the component emits for a tuple, as (stream, values)."""
        self.component.process(Tuple("1", source, stream, 1, tuple(values)))
        return self._take()

    def tick(self) -> list[tuple[str, list[Any]]]:
        self.component.process_tick(Tuple("1", "__system", "__tick", -1, (1,)))
        return self._take()

    def next_tuple(self) -> list[tuple[str, list[Any]]]:
        self.component.next_tuple()
        return self._take()

    def run(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what the component answers to one message of Storm, also when it raises."""
        self.component.serializer.input_stream = io.BytesIO(orjson.dumps(message) + b"\nend\n")
        try:
            self.component._run()
        except Exception as error:  # noqa: BLE001 - as pystorm's own loop
            self.component._handle_run_exception(error)
        return self.messages()

    def messages(self) -> list[dict[str, Any]]:
        """Return what the component sent since the last call."""
        self.component.serializer.flush()
        text = self._output.getvalue()
        self._output.seek(0)
        self._output.truncate()
        return [orjson.loads(part) for part in text.split(b"\nend\n") if part]

    def _take(self) -> list[tuple[str, list[Any]]]:
        emitted = []
        for message in self.messages():
            if message["command"] == "error":
                self.errors.append(message["msg"])
            elif message["command"] == "emit":
                assert all(isinstance(value, str | int | float) for value in message["tuple"])
                emitted.append((message.get("stream", "default"), message["tuple"]))
        return emitted


@pytest.fixture(scope="session")
def stage() -> Callable[..., Stage]:
    return lambda name, conf=None: Stage(name, conf or {})


@pytest.fixture
def stand_in() -> Iterator[tuple[StandIn, Address]]:
    """Give a stand-in for Nimbus and where it listens."""
    with serving() as served:
        yield served
