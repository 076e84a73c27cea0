"""A thousand agents' publishing against a real ZooKeeper.

    python -m benchmarks.monitoring.agents_at_scale [--agents 1000] [--real 50] [--seconds 60]

A few agents are real: each is a `Publisher` with a session, a watch on the list and a pool of peers of its
own, and only its probes are missing. The others are ephemeral znodes that ten sessions write for them, as
four thousand threads do not fit a small machine. Each publishes a reading with 32 links every 5 s. What real
agents ask for beyond their writes is counted per agent. A reader follows all readings by a watch on
the list and one on each znode, as the shim's cache does. Starts the server, prints a table and one JSON line.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, NoNodeError, SessionExpiredError
from kazoo.protocol.states import EventType

from benchmarks.monitoring.zookeeper_server import zookeeper_server
from experiments.machine import provenance
from formats.log import Log
from monitoring.coordinate import Coordinate
from monitoring.reading import Address, Link, Load, Outages, Reading, to_json
from monitoring.zookeeper.publisher import Publisher, PublisherOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.synchronize import Event

ROOT = "/scale"
PUBLISH_S = 5.0
PATIENCE_S = 300.0
SETTLE_S = 60.0
SESSIONS = 10


@functools.cache
def _links(host: str) -> dict[str, Link]:
    rng = random.Random(host)
    return {
        f"site-{rng.randrange(20)}-host-{number}": Link(
            rng.uniform(0, 120), rng.uniform(0, 90), rng.uniform(90, 120), 5, 0.0123, 0.999912
        )
        for number in range(32)
    }


def content(host: str, sequence: int) -> bytes:
    """Give a reading as large as readings get."""
    place = Coordinate((1.2345 * (sequence % 7), -20.3456, 30.4567, 4.5678, 56.7891), 0.5, 0.05)
    load = Load(0.25, 0.5, 0.75, 2, 4)
    here, past = Address("10.0.0.1", 7091), Outages(0.0, None)
    return to_json(
        Reading(time.time(), sequence, 30.0, host, "site-1", place, 0.9995, past, load, _links(host), here)
    )


def agents(address: str, names: list[str], stop: Event) -> None:
    """Run real agents in this process until `stop` is set."""
    publishers = []
    for name in names:
        publisher = Publisher(
            PublisherOptions(address, ROOT, name, session_timeout_s=40.0), _ignore, _ignore, Log("error")
        )
        publisher.start()
        publishers.append(publisher)
    _write_in_turn(names, lambda number, reading: publishers[number].publish(reading), stop)


def znodes(address: str, names: list[str], stop: Event) -> None:
    """Keep ephemeral znodes of other agents from this process until `stop` is set."""
    clients = [KazooClient(address, timeout=40.0) for _ in range(SESSIONS)]
    for client in clients:
        client.start(timeout=PATIENCE_S)
    paths = [f"{ROOT}/nodes/{name}" for name in names]
    made = [
        clients[number % SESSIONS].create_async(path, content(name, 0), ephemeral=True, makepath=True)
        for number, (path, name) in enumerate(zip(paths, names, strict=True))
    ]
    for reply in made:
        reply.get(timeout=PATIENCE_S)
    _write_in_turn(
        names, lambda number, reading: clients[number % SESSIONS].set_async(paths[number], reading), stop
    )


def _ignore(_news: object) -> None:
    """Take news that the benchmark does not need."""


def _write_in_turn(names: list[str], write: Callable[[int, bytes], object], stop: Event) -> None:
    """Have every agent publish every 5 s, evenly spread."""
    sequence, due_s = 0, time.monotonic()
    while True:
        sequence += 1
        for number, name in enumerate(names):
            due_s += PUBLISH_S / len(names)
            if stop.wait(max(0.0, due_s - time.monotonic())):
                os._exit(0)  # closing all sessions in order is no part of what is measured
            write(number, content(name, sequence))


class Reader:
    """Follows all readings as the shim does: one watch on the list, one on each znode."""

    def __init__(self, address: str) -> None:
        self.client = KazooClient(address, timeout=40.0)
        self.client.start(timeout=PATIENCE_S)
        self.client.ensure_path(f"{ROOT}/nodes")
        self.updates = 0
        self.seen: set[str] = set()
        self._known: set[str] = set()
        self._changed = threading.Condition()

    def start(self) -> None:
        """Begin to follow."""
        self.client.get_children_async(f"{ROOT}/nodes", watch=self._list).rawlink(self._listed)

    def wait(self, count: int) -> None:
        """Wait until so many readings were seen."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.seen) >= count, PATIENCE_S):
                raise SystemExit(f"only {len(self.seen)} of {count} readings came within {PATIENCE_S:.0f} s")

    def close(self) -> None:
        """End the session."""
        self.client.stop()
        self.client.close()

    def _list(self, event: Any) -> None:
        if event.type != EventType.NONE:  # the session's own events are no news of readings
            self.start()

    def _listed(self, reply: Any) -> None:
        fresh = set(reply.get()) - self._known
        self._known |= fresh
        for name in fresh:
            self._read(name)

    def _read(self, name: str) -> None:
        path = f"{ROOT}/nodes/{name}"
        self.client.get_async(path, watch=lambda event: self._changed_at(name, event)).rawlink(
            lambda reply: self._arrived(name, reply)
        )

    def _changed_at(self, name: str, event: Any) -> None:
        if event.type == EventType.CHANGED:
            self._read(name)

    def _arrived(self, name: str, reply: Any) -> None:
        with contextlib.suppress(NoNodeError, ConnectionLoss, SessionExpiredError):
            reply.get()
            with self._changed:
                self.updates += 1
                self.seen.add(name)
                self._changed.notify_all()


def server_counters(address: str) -> dict[str, float]:
    """Read the server's own counters of packets, by its four-letter command."""
    client = KazooClient(address, timeout=40.0)
    client.start(timeout=PATIENCE_S)
    lines = client.command(b"srvr").splitlines()
    client.stop()
    client.close()
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    latency = fields["Latency min/avg/max"].split("/")
    return {
        "received": float(fields["Received"]),
        "sent": float(fields["Sent"]),
        "latency_avg_ms": float(latency[1]),
        "latency_max_ms": float(latency[2]),
        "znodes": float(fields["Node count"]),
    }


def measure(count: int, real: int, seconds: float) -> dict[str, Any]:
    """Start everything, let it run and return the figures."""
    names = [f"site-{number % 20}-host-{number}" for number in range(count)]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, zookeeper_server(Path(folder)) as (address, server):
        reader = Reader(address)
        reader.start()
        stop = context.Event()
        crowd = context.Process(target=znodes, args=(address, names[real:], stop))
        crowd.start()
        reader.wait(count - real)
        before, began_s = server_counters(address), time.monotonic()
        updates = reader.updates
        few = context.Process(target=agents, args=(address, names[:real], stop))
        few.start()
        try:
            reader.wait(count)
            passed_s = max(SETTLE_S, time.monotonic() - began_s)
            time.sleep(began_s + passed_s - time.monotonic())
            after = server_counters(address)
            extra = after["received"] - before["received"] - 2 * (reader.updates - updates)
            figures: dict[str, Any] = {
                "agents": count,
                "real": real,
                "bytes_per_node": len(content(names[0], 1000)),
                "start_requests": extra / real,
            }
            before, cpu_s, updates = server_counters(address), _cpu_s(server), reader.updates
            traffic, few_cpu_s, from_s = _loopback_bytes(), _cpu_s(psutil.Process(few.pid)), time.monotonic()
            time.sleep(seconds)
            after, passed_s = server_counters(address), time.monotonic() - from_s
            written = reader.updates - updates
            figures |= {
                "writes_per_s": written / passed_s,
                "requests_per_s": (after["received"] - before["received"]) / passed_s,
                "extra_per_agent_s": (after["received"] - before["received"] - 2 * written) / passed_s / real,
                "traffic_kb_per_s": (_loopback_bytes() - traffic) / passed_s / 1e3,
                "server_cpu": (_cpu_s(server) - cpu_s) / passed_s,
                "agent_cpu": (_cpu_s(psutil.Process(few.pid)) - few_cpu_s) / passed_s / real,
                "server_memory_mb": server.memory_info().rss / 1e6,
                "latency_avg_ms": after["latency_avg_ms"],
            }
            late = Reader(address)
            from_s = time.monotonic()
            late.start()
            late.wait(count)
            figures["read_all_s"] = time.monotonic() - from_s
            late.close()
        finally:
            reader.close()
            stop.set()
            for worker in (crowd, few):
                worker.join(timeout=30)
                worker.kill()
    return figures


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _loopback_bytes() -> float:
    return float(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


_ROWS = (
    ("ephemeral znodes", "agents", ".0f"),
    ("of them of real agents", "real", ".0f"),
    ("bytes per znode, 32 links", "bytes_per_node", ".0f"),
    ("requests of an agent's first minute, its writes not counted", "start_requests", ".0f"),
    ("writes per second, as a reader that watches all sees them", "writes_per_s", ".0f"),
    ("packets to the server per second, the reader's included", "requests_per_s", ".0f"),
    ("of them per real agent, beyond its writes", "extra_per_agent_s", ".2f"),
    ("traffic on the loopback interface (kB/s)", "traffic_kb_per_s", ".0f"),
    ("server's CPU (cores)", "server_cpu", ".2f"),
    ("a real agent's CPU for publishing (cores)", "agent_cpu", ".4f"),
    ("server's memory (MB)", "server_memory_mb", ".0f"),
    ("mean latency of requests (ms)", "latency_avg_ms", ".1f"),
    ("time for a new reader to see all readings (s)", "read_all_s", ".2f"),
)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--real", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    figures = measure(options.agents, options.real, options.seconds)
    print(provenance().line())
    print("| figure | value |\n|---|---:|")
    for words, key, form in _ROWS:
        print(f"| {words} | {figures[key]:{form}} |")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
