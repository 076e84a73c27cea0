"""Rules of what several agents' readings say together about a host or a site that is not there.

A scripted clock moves eight hosts in three sites; the network, deaths and ZooKeeper's list are scripted too.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.agent.availability import PRIOR
from monitoring.agent.bandwidth.train_targets import Destination
from monitoring.agent.measurements import Measurements
from monitoring.agent.state import State, resume
from monitoring.reading import Address
from monitoring.zookeeper.peer_list import Listing

if TYPE_CHECKING:
    from monitoring.reading import Link

HOSTS = ("east-1", "east-2", "east-3", "north-1", "north-2", "west-1", "west-2", "west-3")
WEST = {host for host in HOSTS if host.startswith("west")}
SESSION_S = 10
GIVEN_UP_S = 3
HERE = Address("10.0.0.1", 7091)


class Cluster:
    """Agents without sockets; readings are what they would publish, while they are listed."""

    def __init__(self, log: Any) -> None:
        self.now_s = 0
        self._log = log
        self._agents: dict[str, Measurements] = {}
        self._saved: dict[str, State] = {}
        self._listed: set[str] = set()
        self._unlist_at_s: dict[str, int] = {}
        self._losses: list[tuple[int, str, str]] = []
        self.cut_off: set[str] = set()
        self.without_zookeeper: set[str] = set()
        self._own: dict[str, Any] = {}
        for host in HOSTS:
            self.start(host)

    @property
    def readings(self) -> dict[str, Any]:
        return {host: reading for host, reading in self._own.items() if host in self._listed}

    def start(self, host: str) -> None:
        before = self._saved.get(host)
        after = resume(before, float(self.now_s)) if before else None
        self._agents[host] = Measurements(
            random.Random(host),
            float(self.now_s),
            self._log,
            after.coordinate if after else None,
            after.history if after else None,
            links=after.links if after else None,
        )
        self._listed.add(host)
        self._unlist_at_s.pop(host, None)
        self._tell()

    def stop(self, host: str, *, clean: bool) -> None:
        agent = self._agents.pop(host)
        links = agent.link_memory(float(self.now_s))
        self._saved[host] = State(float(self.now_s), clean, agent.coordinate, agent.history, links)
        self._unlist_at_s[host] = self.now_s + (0 if clean else SESSION_S)

    def lose_zookeeper(self, hosts: set[str]) -> None:
        self.without_zookeeper = hosts
        self._unlist_at_s |= dict.fromkeys(hosts, self.now_s + SESSION_S)

    def find_zookeeper(self) -> None:
        self._listed |= self.without_zookeeper
        self.without_zookeeper = set()
        self._tell()

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now_s += 1
            gone = {host for host, at_s in self._unlist_at_s.items() if at_s <= self.now_s}
            if gone:
                self._listed -= gone
                self._unlist_at_s = {h: at_s for h, at_s in self._unlist_at_s.items() if h not in gone}
                self._tell()
            for host, agent in self._agents.items():
                self._probe(host, agent)
                if self.now_s % 5 == 0:
                    self._own[host] = agent.look(float(self.now_s))

    def look(self, host: str) -> dict[str, Link]:
        """What the links of a host's reading would be now."""
        return self._agents[host].look(float(self.now_s))[2]

    def _tell(self) -> None:
        for host, agent in self._agents.items():
            if host not in self.without_zookeeper:
                peers = frozenset(self._listed - {host})
                agent.take_peers(Listing(peers, dict.fromkeys(peers, HERE)), float(self.now_s))

    def _probe(self, host: str, agent: Measurements) -> None:
        due = [loss for loss in self._losses if loss[1] == host and loss[0] + GIVEN_UP_S <= self.now_s]
        for loss in due:
            self._losses.remove(loss)
            agent.lost(loss[2], float(loss[0]), float(self.now_s))
        chosen = agent.next_peer(float(self.now_s))
        if chosen is None:
            return
        peer = chosen[0]
        if peer in self._agents and (host in self.cut_off) == (peer in self.cut_off):
            delay_ms = 0.3 if host[:4] == peer[:4] else 20.0
            agent.take_answer(peer, self.now_s + delay_ms / 500, 2 * delay_ms, self._agents[peer].coordinate)
        else:
            self._losses.append((self.now_s, host, peer))


@pytest.fixture
def cluster(log: Any) -> Cluster:
    result = Cluster(log)
    result.run(300)
    return result


def outages(cluster: Cluster, host: str) -> float:
    return float(cluster.readings[host][1].count)


def link_availability(cluster: Cluster, hosts: set[str], peers: set[str]) -> list[float]:
    readings = cluster.readings
    links = [(host, peer) for host in hosts for peer in peers if host in readings and host != peer]
    return [readings[a][2][b].availability for a, b in links if b in readings[a][2]]


def undisturbed(cluster: Cluster, but: set[str]) -> bool:
    """Say whether all other hosts and all links among them have a clean record."""
    others = set(HOSTS) - but
    return all(outages(cluster, host) == 0 for host in others) and all(
        availability >= PRIOR for availability in link_availability(cluster, others, others)
    )


def test_a_flapping_host_counts_its_outages_and_its_links_are_not_blamed(cluster: Cluster) -> None:
    for _ in range(5):
        cluster.stop("west-1", clean=False)
        cluster.run(60)
        cluster.start("west-1")
        cluster.run(120)
    availability, own, _ = cluster.readings["west-1"]
    assert own.count == pytest.approx(5, abs=0.1)
    assert own.last_s == pytest.approx(120, abs=5)
    assert availability < 0.97
    assert min(link_availability(cluster, set(HOSTS), {"west-1"})) >= PRIOR
    assert undisturbed(cluster, {"west-1"})


def test_a_dead_host_has_no_reading_and_no_link_and_no_other_host_suffers(cluster: Cluster) -> None:
    cluster.stop("west-1", clean=False)
    cluster.run(SESSION_S)
    assert "west-1" not in cluster.readings
    cluster.run(300)
    assert link_availability(cluster, set(HOSTS), {"west-1"}) == []
    assert undisturbed(cluster, {"west-1"})


def test_a_partitioned_site_keeps_its_readings_and_only_links_across_are_cut(cluster: Cluster) -> None:
    cluster.cut_off = WEST
    cluster.run(100)
    assert set(cluster.readings) == set(HOSTS)
    rest = set(HOSTS) - WEST
    losses = [cluster.readings[a][2][b].loss for a in rest for b in WEST if b in cluster.readings[a][2]]
    assert losses
    assert min(losses) > 0.03
    cluster.run(200)
    cluster.cut_off = set()
    cluster.run(60)
    assert [outages(cluster, host) for host in HOSTS] == [0] * len(HOSTS)
    assert max(link_availability(cluster, rest, WEST)) < 0.98
    assert max(link_availability(cluster, WEST, rest)) < 0.98
    assert min(link_availability(cluster, WEST, WEST)) >= PRIOR
    assert min(link_availability(cluster, rest, rest)) >= PRIOR


def test_a_site_that_is_cut_off_from_zookeeper_too_reports_the_cut_when_it_is_back(cluster: Cluster) -> None:
    cluster.cut_off = WEST
    cluster.lose_zookeeper(WEST)
    cluster.run(300)
    rest = set(HOSTS) - WEST
    assert set(cluster.readings) == rest
    cluster.cut_off = set()
    cluster.find_zookeeper()
    cluster.run(60)
    assert [outages(cluster, host) for host in HOSTS] == [0] * len(HOSTS)
    assert max(link_availability(cluster, WEST, rest)) < 0.98
    assert min(link_availability(cluster, WEST, WEST)) >= PRIOR


def test_a_planned_restart_leaves_no_trace_but_the_gap(cluster: Cluster) -> None:
    cluster.stop("west-1", clean=True)
    cluster.run(1)
    assert "west-1" not in cluster.readings
    cluster.run(29)
    cluster.start("west-1")
    cluster.run(60)
    assert outages(cluster, "west-1") == 0
    assert cluster.readings["west-1"][0] >= PRIOR
    assert min(link_availability(cluster, set(HOSTS), {"west-1"})) >= PRIOR
    assert undisturbed(cluster, set())


def test_a_host_that_is_cut_off_alone_counts_one_outage_and_blames_no_link(cluster: Cluster) -> None:
    cluster.cut_off = {"west-1"}
    cluster.lose_zookeeper({"west-1"})
    cluster.run(120)
    cluster.cut_off = set()
    cluster.find_zookeeper()
    cluster.run(60)
    assert outages(cluster, "west-1") == pytest.approx(1, abs=0.01)
    assert min(link_availability(cluster, {"west-1"}, set(HOSTS))) >= PRIOR
    assert undisturbed(cluster, {"west-1"})


def test_a_restart_does_not_whitewash_links_that_were_cut(cluster: Cluster) -> None:
    cluster.cut_off = WEST
    cluster.run(300)
    cluster.cut_off = set()
    cluster.run(60)
    cluster.stop("west-1", clean=True)
    cluster.run(20)
    cluster.start("west-1")
    cluster.run(5)
    rest = set(HOSTS) - WEST
    assert max(link_availability(cluster, {"west-1"}, rest)) < 0.98
    assert min(link_availability(cluster, {"west-1"}, WEST)) >= PRIOR


def test_a_restarted_host_publishes_its_links_at_once_but_not_one_to_a_host_that_left(
    cluster: Cluster,
) -> None:
    cluster.stop("west-1", clean=True)
    cluster.stop("west-2", clean=True)
    cluster.run(20)
    cluster.start("west-1")
    cluster.run(1)
    links = cluster.look("west-1")
    assert set(links) == set(HOSTS) - {"west-1", "west-2"}
    assert sorted(link.age_s > 20 for link in links.values()) == [False] + [True] * 5


def test_peers_elsewhere_are_those_of_other_known_sites_that_answer(log: Any) -> None:
    """Not of this site or of none, not before they answered or long after, nor when they are forgotten."""
    one = Measurements(random.Random(1), 0.0, log)
    sites = {"near": "fog", "far": "edge", "further": "cloud", "quiet": "edge"}
    addresses = {peer: Address(f"10.0.0.{k}", 7091) for k, peer in enumerate([*sites, "lost"], 1)}
    one.take_peers(Listing(frozenset(addresses), addresses, sites), 0.0)
    for peer in ("near", "far", "further", "lost"):
        one.take_answer(peer, 1.0, 10.0, one.coordinate)
    assert one.elsewhere("fog", 2.0) == {
        "far": Destination("edge", addresses["far"]),
        "further": Destination("cloud", addresses["further"]),
    }
    one.lost("far", 3.0, 6.0)
    assert set(one.elsewhere("fog", 6.0)) == {"further"}
    assert one.elsewhere("fog", 122.0) == {}
    one.take_answer("further", 123.0, 10.0, one.coordinate)
    assert set(one.elsewhere("fog", 123.0)) == {"further"}
    one.take_peers(Listing(frozenset(addresses) - {"further"}, {"near": addresses["near"]}, sites), 124.0)
    assert one.elsewhere("fog", 154.0) == {}


def test_an_address_is_known_while_a_peer_has_it(log: Any) -> None:
    one = Measurements(random.Random(1), 0.0, log)
    one.take_peers(Listing(frozenset({"a"}), {"a": HERE}), 0.0)
    assert one.knows(HERE.host)
    assert not one.knows("10.0.0.2")
