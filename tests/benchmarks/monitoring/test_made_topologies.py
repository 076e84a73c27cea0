"""The collector reads topologies that are made as it reads Nimbus'."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.monitoring.made_topologies import HOSTS, RENDER_S, MadeNimbus
from formats.log import Log
from monitoring.rates.collector import Collector


class Nodes:
    """What is held, and how often something was."""

    def __init__(self) -> None:
        self.now: dict[str, bytes] = {}
        self.writes = 0

    def hold(self, path: str, content: bytes) -> None:
        self.now[path] = content
        self.writes += 1


def follow(topologies: int, hosts: list[str], clock: Any) -> tuple[Collector, Nodes]:
    """Look every 10 s until each worker has rendered its statistics twice."""
    nodes: Any = Nodes()
    nimbus = MadeNimbus(topologies, hosts, clock)
    collector = Collector(nimbus.connect, nodes, "/s", Log("error"), clock=clock)
    for _ in range(int(2 * RENDER_S / 10) + 1):
        collector.look()
        clock.now_s += 10.0
    return collector, nodes


def test_every_look_publishes_whole_readings_of_all_topologies(clock: Any) -> None:
    """Workers render at moments of their own: some have since the last look."""
    hosts = [f"host-{number}" for number in range(2 * HOSTS)]
    collector, nodes = follow(2, hosts, clock)
    readings = [json.loads(content) for path, content in nodes.now.items() if path.startswith("/s/rates/")]
    assert len(readings) == 2
    for reading in readings:
        assert reading["complete"]
        assert len(reading["executors"]["first_task"]) == 200
        assert all(stream["rate"] > 0 for stream in reading["streams"])
        assert {host for a, b, _ in reading["host_pairs"] for host in (a, b)} <= set(hosts)
    before = collector.figures().readings
    collector.look()
    assert collector.figures().readings == before + 2
    assert collector.figures().faults == {}


def test_partners_of_the_made_topologies_hosts_are_published(clock: Any) -> None:
    hosts = [f"host-{number}" for number in range(HOSTS)]
    _, nodes = follow(1, hosts, clock)
    shards = [json.loads(content) for path, content in nodes.now.items() if path.startswith("/s/partners/")]
    assert {host for shard in shards for host in shard["partners"]} == set(hosts)
