"""Partners of all hosts are published in shards, and read by those who need them only."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from formats.partners_reading import LIFETIME_S, SHARDS, shard_of
from monitoring.host_pairs import MAX_HOST_PAIRS, MAX_PARTNERS
from monitoring.rates.partner_shards import REFRESH_S, PartnerShards
from monitoring.zookeeper.partners import PartnerFinder, partners_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Pairs = list[tuple[str, str, float]]


class Nodes:
    """What is published, and how often something was."""

    def __init__(self) -> None:
        self.now: dict[str, bytes] = {}
        self.writes = 0

    def hold(self, path: str, content: bytes) -> None:
        self.now[path] = content
        self.writes += 1

    def release(self, path: str) -> None:
        del self.now[path]


class Scene:
    def __init__(self) -> None:
        self.nodes = Nodes()
        self.shards = PartnerShards(self.nodes, "/s/partners")  # type: ignore[arg-type]  # all that it asks of it
        self.now_s = 0.0

    def update(self, *pairs: tuple[str, str, float], after_s: float = 10.0) -> None:
        self.now_s += after_s
        self.shards.update(pairs, self.now_s, 1e9 + self.now_s)

    def partners(self, host: str) -> Sequence[str]:
        return partners_of(host, self.nodes.now[f"/s/partners/{shard_of(host)}"])[1]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_each_host_finds_its_partners_over_all_topologies_in_its_shard(scene: Scene) -> None:
    """Busiest first; what two topologies send adds up."""
    scene.update(("a", "b", 3.0), ("c", "a", 2.0), ("a", "c", 2.0))
    assert (scene.partners("a"), scene.partners("b"), scene.partners("c")) == (("c", "b"), ("a",), ("a",))
    reading = json.loads(scene.nodes.now[f"/s/partners/{shard_of('a')}"])
    assert (reading["version"], reading["time"], reading["lifetime_s"]) == (1, 1e9 + 10.0, LIFETIME_S)


def test_a_shard_is_written_when_partners_change_and_once_a_minute(scene: Scene) -> None:
    """Neither by rates alone nor by their order."""
    scene.update(("a", "b", 3.0), ("a", "c", 2.9))
    writes = scene.nodes.writes
    scene.update(("a", "b", 2.9), ("a", "c", 3.0))
    assert scene.nodes.writes == writes
    scene.update(("a", "b", 2.9), ("a", "c", 3.0), after_s=REFRESH_S)
    assert scene.nodes.writes == 2 * writes
    assert scene.partners("a") == ("c", "b")
    scene.update(("a", "b", 2.9), ("a", "d", 3.0))
    assert scene.partners("a") == ("d", "b")


def test_a_partner_stays_until_another_is_busier_by_a_quarter(scene: Scene) -> None:
    busy = [("a", f"p{number}", 10.0) for number in range(MAX_PARTNERS)]
    scene.update(*busy, ("a", "new", 9.0))
    scene.update(*busy, ("a", "new", 12.0))
    assert "new" not in scene.partners("a")
    scene.update(*busy, ("a", "new", 13.0))
    assert scene.partners("a")[0] == "new"


def test_shards_without_hosts_are_removed(scene: Scene) -> None:
    """The topologies ended."""
    scene.update(("a", "b", 3.0))
    scene.update()
    assert scene.nodes.now == {}


class CountingClient:
    """A connection to a ZooKeeper that counts what it serves."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self.contents = contents
        self.bytes = self.reads = 0

    def get_async(self, path: str) -> Any:
        self.reads += 1
        self.bytes += len(self.contents[path])
        answer = (self.contents[path], SimpleNamespace(mzxid=1))
        return SimpleNamespace(get=lambda timeout: answer)  # noqa: ARG005 - the client's own name


def topology(number: int, hosts: list[str]) -> Pairs:
    """Return as many pairs of hosts as the reading of one topology names at most."""
    chance = random.Random(number)
    used = chance.sample(hosts, 500)
    return [(*chance.sample(used, 2), chance.uniform(1.0, 1000.0)) for _ in range(MAX_HOST_PAIRS)]


def test_a_thousand_agents_and_fifty_topologies_cost_zookeeper_less_than_a_megabyte_per_second(
    log: Any, fake_clock: Any
) -> None:
    """Each agent reads one znode of a few kilobytes per minute, however many topologies there are."""
    hosts = [f"supervisor-{number:04d}.example.org" for number in range(1000)]
    scene = Scene()
    scene.update(*(pair for number in range(50) for pair in topology(number, hosts)))
    assert len(scene.nodes.now) <= SHARDS
    client = CountingClient(scene.nodes.now)
    found: dict[str, tuple[str, ...]] = {}
    for host in hosts:
        finder = PartnerFinder(
            folder="/s/partners",
            host=host,
            pause_s=60.0,
            rng=random.Random(host),
            on_partners=lambda partners, host=host: found.update({host: partners}),  # type: ignore[misc]
            log=log,
            clock_s=fake_clock,
        )
        finder.take_turn(client)
    assert all(len(found[host]) == MAX_PARTNERS for host in hosts)
    assert client.reads == len(hosts)
    assert client.bytes / 60.0 < 200_000
