"""Drains in a real ZooKeeper."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from provisioning.cluster.drains import ZookeeperDrains

if TYPE_CHECKING:
    from tests.monitoring.conftest import ZooKeeperServer


def test_a_drain_begins_goes_on_and_ends(zookeeper: ZooKeeperServer) -> None:
    """As `stormplace drain` writes them; each step may be repeated."""
    drains = ZookeeperDrains(str(zookeeper.address), "/elastic-drains", {})
    path = "/elastic-drains/drains/host:near-3"
    client = zookeeper.client()
    for lifetime_s in (300.0, 600.0):
        drains.hold("near-3", lifetime_s)
        content, _ = client.get(path)
        assert json.loads(content) == {"version": 1, "lifetime_s": lifetime_s}
    for _ in range(2):
        drains.end("near-3")
        assert client.exists(path) is None
    client.stop()
    client.close()
