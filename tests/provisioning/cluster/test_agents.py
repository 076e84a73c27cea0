"""What agents publish, read from a real ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.packed_content import pack
from formats.script_key import script_key
from monitoring.coordinate import Coordinate
from monitoring.reading import Address, Load, Outages, Reading, WorkerCpu, to_json
from provisioning.cluster.agents import Agents

if TYPE_CHECKING:
    from tests.monitoring.conftest import ZooKeeperServer

NOW_S = 1_795_843_981.0
RANK, COUNT = script_key("bolts.Rank"), script_key("bolts.Count")


def published(host: str, *workers: WorkerCpu, time_s: float = NOW_S) -> bytes:
    """Return what the znode of an agent holds."""
    outages, load = Outages(0.0, None), Load(0.5, 0.5, 0.1, 1, 2)
    place, probe = Coordinate((0.0, 0.0), 0.1, 0.1), Address("10.0.0.1", 7091)
    reading = Reading(time_s, 7, 30.0, host, None, place, 1.0, outages, load, {}, probe, workers)
    return pack(to_json(reading))


def test_processes_of_all_workers_of_all_hosts_are_added_up(zookeeper: ZooKeeperServer) -> None:
    """But of those that say nothing, or nothing new."""
    client = zookeeper.client()
    contents = {
        "a": published(
            "a",
            WorkerCpu(6700, "t-1", 80.0, {RANK: 12.5, COUNT: 1.0}),
            WorkerCpu(6701, "t-2", 80.0, {RANK: 7.0}),
        ),
        "b": published("b", WorkerCpu(6700, "t-1", 80.0, {RANK: 2.5}), WorkerCpu(6701, "t-1", 1.0)),
        "old": published("old", WorkerCpu(6700, "t-1", 80.0, {RANK: 100.0}), time_s=NOW_S - 31.0),
        "other": published("other", WorkerCpu(6700, "t-1", 80.0, {RANK: 1000.0})),
        "broken": b"{",
        "empty": b"{}",
    }
    for host, content in contents.items():
        client.create(f"/elastic-agents/nodes/{host}", content, makepath=True)
    client.stop()
    client.close()
    agents = Agents(str(zookeeper.address), "/elastic-agents", {})
    hosts = ["a", "b", "old", "broken", "empty", "without-agent"]
    assert agents.child_seconds(hosts, NOW_S) == {
        ("t-1", RANK): 15.0,
        ("t-1", COUNT): 1.0,
        ("t-2", RANK): 7.0,
    }
