"""Agents that are only znodes read what real ones would, as often."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from benchmarks.monitoring.agents_reads import AgentReads, CountedReads
from formats.partners_reading import VERSION

SHARD = json.dumps({"version": VERSION, "time": 0.0, "lifetime_s": 180.0, "partners": {}}).encode()


class Reply:
    def get(self, timeout: float | None = None) -> Any:  # noqa: ARG002 - the client's own name
        return SHARD, SimpleNamespace(mzxid=1)

    def wait(self, timeout: float) -> None:
        """Be there at once."""

    def rawlink(self, callback: Any) -> None:
        callback(self)


class Client:
    def __init__(self) -> None:
        self.paths: list[str] = []

    def get_async(self, path: str) -> Reply:
        self.paths.append(path)
        return Reply()


def test_each_agent_reads_partners_once_a_minute_and_a_peer_twice(clock: Any) -> None:
    partners, peers = Client(), Client()
    hosts = [f"host-{number}" for number in range(200)]
    reads = AgentReads(partners, peers, root="/s", readers=hosts[:100], hosts=hosts, clock_s=clock)
    counts = []
    for _ in range(10):
        before = len(partners.paths), len(peers.paths)
        for _ in range(60):
            clock.now_s += 1.0
            reads.take_turn()
        counts.append((len(partners.paths) - before[0], len(peers.paths) - before[1]))
    assert all(80 <= of_partners <= 120 for of_partners, _ in counts)
    assert all(of_peers == 200 for _, of_peers in counts)
    assert all(path.startswith("/s/partners/") for path in partners.paths)
    assert {path.removeprefix("/s/nodes/") for path in peers.paths} <= set(hosts)


def test_bytes_that_were_read_are_counted() -> None:
    counted = CountedReads(Client())
    counted.get_async("/s/partners/00")
    counted.get_async("/s/partners/01")
    assert counted.bytes == 2 * len(SHARD)
