"""A thousand agents, a rates collector and the shim's cache against a real ZooKeeper.

    python -m benchmarks.monitoring.agents_at_scale [--agents 1000] [--real 50] [--topologies 50]
                                                    [--seconds 60]

A few agents are real: each is a `Publisher` with a session, a watch on the list, a pool of peers and partners
of its own, and only its probes are missing. The others are ephemeral znodes that ten sessions write for them,
as four thousand threads do not fit a small machine. What they would read (partners, by the agents' own code,
and peers' addresses) two further sessions read for them at their pace. Their pings are missing: at most 200
per second, 4 kB/s. Each publishes a reading with 32 links every 5 s, as large as readings get. What real
agents ask for beyond their writes is counted per agent.

The rates collector is real, only Nimbus' replies are made. A reader follows all readings of hosts and rates
by a watch on each list and one on each znode, as the shim's cache does. What the server receives and sends is
the kernel's count of its connections' payload (TCP_INFO), without headers. Starts the server, prints a table
and one JSON line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.monitoring.agents_writes import ROOT, agents, content, znodes
from benchmarks.monitoring.made_topologies import collect
from benchmarks.monitoring.readings_reader import Reader
from benchmarks.monitoring.server_traffic import Traffic, growth, ports_of, server_counters, sockets
from benchmarks.monitoring.zookeeper_server import zookeeper_server
from experiments.machine import provenance
from formats.packed_content import pack

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

SETTLE_S = 60.0


class Parts:
    """The processes around one server, and the reader that follows them.

    Args:
        address: Of the server.
        count: Number of agents.
        real: How many of them are real.
        topologies: How many topologies the collector follows.
    """

    def __init__(self, address: str, count: int, real: int, topologies: int) -> None:
        self.address = address
        self.names = [f"site-{number % 20}-host-{number}" for number in range(count)]
        context = multiprocessing.get_context("spawn")
        self.stop = context.Event()
        self.read = context.Array("Q", 2)
        self.reader = Reader(address, ROOT)
        few, others = self.names[:real], self.names[real:]
        self.processes = {
            "collector": context.Process(
                target=collect, args=(address, ROOT, topologies, self.names, self.stop)
            ),
            "znodes": context.Process(
                target=znodes, args=(address, others, self.names, self.read, self.stop)
            ),
            "real agents": context.Process(target=agents, args=(address, few, self.stop)),
        }

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Start all but the real agents; end all."""
        self.reader.start()
        try:
            self.processes["collector"].start()
            self.processes["znodes"].start()
            yield
        finally:
            self.reader.close()
            self.stop.set()
            for process in self.processes.values():
                if process.pid is not None:
                    process.join(timeout=30)
                    process.kill()

    def ports(self) -> dict[str, frozenset[int]]:
        """Return the ports of everyone's connections to the server."""
        processes = {party: psutil.Process(one.pid) for party, one in self.processes.items()}
        everyone = {"reader": psutil.Process(), **processes}
        return {party: ports_of(process, self.address) for party, process in everyone.items()}


def measure(count: int, real: int, topologies: int, seconds: float) -> dict[str, Any]:
    """Start everything, let it run and return the figures."""
    with tempfile.TemporaryDirectory() as folder, zookeeper_server(Path(folder)) as (address, server):
        parts = Parts(address, count, real, topologies)
        with parts.running():
            parts.reader.wait("nodes", count - real)
            parts.reader.wait("rates", topologies)
            began_s = time.monotonic()
            parts.processes["real agents"].start()
            parts.reader.wait("nodes", count)
            time.sleep(max(0.0, began_s + SETTLE_S - time.monotonic()))
            _, packets = server_counters(address)
            few = parts.ports()["real agents"]
            written = _writes(parts.reader.updates, parts.names[:real])
            figures: dict[str, Any] = {
                "agents": count,
                "real": real,
                "topologies": topologies,
                "text_bytes_per_node": len(content(parts.names[0], 1000)),
                "bytes_per_node": len(pack(content(parts.names[0], 1000))),
                "start_requests": (sum(packets[port] for port in few) - written) / real,
                **_in_steady_state(parts, server, real, seconds),
            }
            late = Reader(address, ROOT)
            from_s = time.monotonic()
            late.start()
            late.wait("nodes", count)
            late.wait("rates", topologies)
            figures["read_all_s"] = time.monotonic() - from_s
            late.close()
    return figures


def _in_steady_state(parts: Parts, server: psutil.Process, real: int, seconds: float) -> dict[str, Any]:
    reader, address, ports = parts.reader, parts.address, parts.ports()
    process = psutil.Process(parts.processes["real agents"].pid)
    counters, packets = server_counters(address)
    cpu_s, few_cpu_s, read = _cpu_s(server), _cpu_s(process), parts.read[:]
    (updates, bytes_), traffic, from_s = reader.snapshot(), sockets(address), time.monotonic()
    time.sleep(seconds)
    (updates_after, bytes_after), traffic_after = reader.snapshot(), sockets(address)
    passed_s = time.monotonic() - from_s
    read_after, few_cpu_s = parts.read[:], _cpu_s(process) - few_cpu_s
    server_cpu = (_cpu_s(server) - cpu_s) / passed_s
    counters_after, packets_after = server_counters(address)
    by_party = growth(traffic, traffic_after, ports)
    total = sum(by_party.values(), Traffic(0, 0))
    new = updates_after - updates
    rates = sum(times for (folder, _), times in new.items() if folder == "rates")
    asked = sum(packets_after[port] - packets[port] for port in ports["real agents"])
    shares = {f"sent_kb_per_s {party}": of.sent / passed_s / 1e3 for party, of in by_party.items()}
    return shares | {
        "bytes_per_rates_reading": (bytes_after["rates"] - bytes_["rates"]) / max(1, rates),
        "writes_per_s": (sum(new.values()) - rates) / passed_s,
        "rates_per_s": rates / passed_s,
        "requests_per_s": (counters_after["received"] - counters["received"]) / passed_s,
        "extra_per_agent_s": (asked - _writes(new, parts.names[:real])) / passed_s / real,
        "received_kb_per_s": total.received / passed_s / 1e3,
        "sent_kb_per_s": total.sent / passed_s / 1e3,
        "nodes_kb_per_s": (bytes_after["nodes"] - bytes_["nodes"]) / passed_s / 1e3,
        "rates_kb_per_s": (bytes_after["rates"] - bytes_["rates"]) / passed_s / 1e3,
        "partners_kb_per_s": (read_after[0] - read[0]) / passed_s / 1e3,
        "peers_kb_per_s": (read_after[1] - read[1]) / passed_s / 1e3,
        "server_cpu": server_cpu,
        "agent_cpu": few_cpu_s / passed_s / real,
        "server_memory_mb": server.memory_info().rss / 1e6,
        "latency_avg_ms": counters_after["latency_avg_ms"],
    }


def _writes(updates: Counter[tuple[str, str]], names: Sequence[str]) -> int:
    return sum(updates["nodes", name] for name in names)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


_ROWS = (
    ("ephemeral znodes of agents", "agents", ".0f"),
    ("of them of real agents", "real", ".0f"),
    ("bytes of a reading as text, 32 links", "text_bytes_per_node", ".0f"),
    ("bytes per znode", "bytes_per_node", ".0f"),
    ("topologies", "topologies", ".0f"),
    ("bytes per rates reading, 200 executors on 100 hosts", "bytes_per_rates_reading", ".0f"),
    ("requests of an agent's first minute, its writes not counted", "start_requests", ".0f"),
    ("agents' writes per second, as a reader that watches all sees them", "writes_per_s", ".0f"),
    ("rates readings written per second, likewise", "rates_per_s", ".1f"),
    ("packets to the server per second, the reader's included", "requests_per_s", ".0f"),
    ("of them per real agent, beyond its writes", "extra_per_agent_s", ".2f"),
    ("the server receives (kB/s)", "received_kb_per_s", ".0f"),
    ("the server sends (kB/s)", "sent_kb_per_s", ".0f"),
    ("of them to the reader that stands for the shim", "sent_kb_per_s reader", ".0f"),
    ("that is, readings of hosts", "nodes_kb_per_s", ".0f"),
    ("and readings of rates", "rates_kb_per_s", ".0f"),
    ("to agents that are only znodes", "sent_kb_per_s znodes", ".0f"),
    ("that is, shards of partners", "partners_kb_per_s", ".0f"),
    ("and readings of peers, for their addresses", "peers_kb_per_s", ".0f"),
    ("to real agents", "sent_kb_per_s real agents", ".1f"),
    ("to the rates collector", "sent_kb_per_s collector", ".1f"),
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
    parser.add_argument("--topologies", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    figures = measure(options.agents, options.real, options.topologies, options.seconds)
    print(provenance().line())
    print("| figure | value |\n|---|---:|")
    for words, key, form in _ROWS:
        print(f"| {words} | {figures[key]:{form}} |")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
