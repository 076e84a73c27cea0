"""Large readings are packed in ZooKeeper, and everyone who reads them finds what was published."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.monitoring.agents_writes import content
from bridge.readings.believed import read_nodes
from bridge.settings import ReadingsSettings
from bridge.wire.contract import VERSION
from bridge.wire.messages import PlanRequest
from cli.network.network_input import entry
from cli.network.network_live import read_live
from formats.partners_reading import shard_of
from monitoring.rates.partner_shards import PartnerShards
from monitoring.reading import Address
from monitoring.zookeeper.session import Session
from tests.monitoring.zookeeper import publisher_peers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGE = content("a", 1)


@pytest.fixture
def collector(zookeeper: Any, root: str, make_log: Any) -> Iterator[Session]:
    """The session of a rates collector."""
    session = Session(zookeeper.address, f"{root}/rates", make_log(), retry_s=0.1)
    session.start()
    yield session
    session.stop()


def test_a_large_reading_is_read_by_a_peer_and_by_the_planner(
    zookeeper: Any, nodes: Any, root: str, publisher: Callable[..., Any], patience_s: float
) -> None:
    """Its znode holds less than half of its text."""
    a, b = publisher(zookeeper, "a"), publisher(zookeeper, "b")
    a.publish(LARGE)
    nodes.wait("a", lambda reading: reading is not None)
    b.peers.wait({"a": Address("10.0.0.1", 7091)}, patience_s)
    held = nodes.client.get(nodes.path("a"))[0]
    assert (held[0], len(held) < len(LARGE) / 2) == (0x78, True)
    readings, _ = read_live(zookeeper.address, root, None)
    request = PlanRequest(VERSION, "1", 1000, (), (), readings, readings_live=True)
    believed = read_nodes(request, {"a"}, ReadingsSettings())
    assert (believed.faults, len(believed.by_host["a"].links)) == ((), 32)
    assert entry(readings[0])["content"] == json.loads(LARGE)


def test_a_small_reading_is_text_that_any_client_shows(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    one = publisher(zookeeper, "a")
    one.publish(publisher_peers.content(1))
    nodes.wait("a", lambda reading: reading is not None)
    assert nodes.client.get(nodes.path("a"))[0] == publisher_peers.content(1)


def test_a_large_shard_of_partners_is_read_by_its_agents(
    zookeeper: Any, root: str, collector: Session, publisher: Callable[..., Any], patience_s: float
) -> None:
    """As it is in a cluster of a thousand hosts."""
    hosts = [f"supervisor-{number:04d}.example.org" for number in range(1000)]
    pairs = [(host, hosts[at + 1], 1.0) for at, host in enumerate(hosts[:-1])]
    pairs += [(hosts[0], hosts[at], 9.0 - at) for at in range(2, 8)]
    PartnerShards(collector, f"{root}/partners").update(pairs, 0.0, 1e9)
    one = publisher(zookeeper, hosts[0], partners_pause_s=0.1)
    assert one.partners.get(timeout=patience_s) == (*hosts[2:8], hosts[1])
    client = zookeeper.client()
    assert client.get(f"{root}/partners/{shard_of(hosts[0])}")[0][0] == 0x78
    client.stop()
    client.close()
    assert "partners-unreadable" not in one.log.names()
