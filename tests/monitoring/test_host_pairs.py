"""Rules of partners and of the pairs that readings name, alone and over many readings."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations

import pytest

from monitoring import host_pairs
from monitoring.host_pairs import MAX_PARTNERS, NamedPairs, busiest
from monitoring.rates.counters import Counters, ExecutorLook, Shape, Stream
from monitoring.rates.rates_json import to_json
from monitoring.rates.topology_rates import TopologyRates

SPOUT = Stream("spout", "default")
SHAPE = Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"}))
RATE = 1000.0
REFRESH_S = 60


def all_pairs(hosts: int, chance: random.Random) -> list[tuple[str, str, float]]:
    """Return pairs of so many hosts with rates of all sizes, busiest first."""
    names = [f"h{number:02d}" for number in range(hosts)]
    pairs = [(a, b, chance.uniform(1.0, 100.0)) for a, b in combinations(names, 2)]
    return sorted(pairs, key=lambda pair: -pair[2])


def test_partners_are_the_busiest_over_all_topologies() -> None:
    pairs = [("a", "b", 1.0), ("a", "c", 2.0), ("d", "a", 3.0), ("b", "a", 4.0), ("b", "c", 99.0)]
    assert busiest("a", pairs) == ("b", "d", "c")


def test_no_more_than_eight_are_partners_and_ties_are_broken_by_name() -> None:
    pairs = [("a", f"p{number:02d}", 1.0) for number in range(20)]
    assert busiest("a", pairs) == tuple(f"p{number:02d}" for number in range(8))


def test_a_host_is_not_its_own_partner() -> None:
    assert busiest("a", [("a", "a", 5.0)]) == ()


def test_noise_in_nearly_equal_rates_exchanges_no_partner() -> None:
    pairs = [("a", f"p{number:02d}", 10.0 + number % 2) for number in range(20)]
    present = tuple(f"p{number:02d}" for number in range(8))
    assert set(busiest("a", pairs, present)) == set(present)
    assert set(busiest("a", [*pairs, ("a", "busy", 14.0)], present)) == {*present, "busy"} - {"p06"}


def test_an_agent_finds_the_same_partners_in_the_named_pairs_as_in_all() -> None:
    """A reading is a fraction of all pairs, still busiest first."""
    pairs = all_pairs(32, random.Random(0))
    named = NamedPairs().choose(pairs)
    assert list(named) == [pair for pair in pairs if pair in named]
    assert all(busiest(host, named) == busiest(host, pairs) for host in {pair[0] for pair in pairs})
    assert len(named) <= MAX_PARTNERS * 32 < len(pairs)


def test_each_of_very_many_hosts_has_fewer_pairs_and_none_loses_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_pairs, "MAX_HOST_PAIRS", 100)
    pairs = all_pairs(32, random.Random(0))
    named = NamedPairs().choose(pairs)
    assert len(named) <= 100
    assert all(set(busiest(host, pairs, most=3)) <= set(busiest(host, named)) for host, _, _ in pairs)


def test_more_hosts_than_pairs_have_room_leave_the_quietest_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_pairs, "MAX_HOST_PAIRS", 10)
    pairs = all_pairs(32, random.Random(0))
    assert len(NamedPairs().choose(pairs)) == 10


def test_a_topology_on_one_host_has_no_pairs() -> None:
    assert NamedPairs().choose(()) == ()


class Cluster:
    """A spout and a bolt on each host, shuffle grouping, noise of 3 %; a collector, and an agent each."""

    def __init__(self, hosts: int) -> None:
        self.chance = random.Random(hosts)
        self.names = [f"h{number:02d}" for number in range(hosts)]
        self.factors = dict.fromkeys(self.names, 1.0)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.collected = TopologyRates(SHAPE)
        self.refreshes = 0
        self.partners: dict[str, frozenset[str]] = {}
        for _ in range(2):
            self.refresh()
        self.let_read(self.names)

    def refresh(self) -> None:
        """Let a minute pass, and the collector take what Nimbus shows after it."""
        self.refreshes += 1
        for component in ("spout", "bolt"):
            for name in self.names:
                rate = RATE * self.factors[name] * self.chance.gauss(1.0, 0.03)
                self.counts[component, name] += round(REFRESH_S * rate)
        looks = [self._look("spout", 1 + number) for number in range(len(self.names))]
        looks += [self._look("bolt", 1 + len(self.names) + number) for number in range(len(self.names))]
        rates = self.collected.look(float(REFRESH_S * self.refreshes), looks).rates
        self.content = b"" if rates is None else to_json("t", rates, 0.0, 1)

    def _look(self, component: str, task: int) -> ExecutorLook:
        name = self.names[(task - 1) % len(self.names)]
        count, age_s = self.counts[component, name], REFRESH_S * self.refreshes
        sent = {"default": count} if component == "spout" else {}
        taken = {SPOUT: count} if component == "bolt" else {}
        counters = Counters(age_s, 1.0, sent, sent, taken, None)
        return ExecutorLook(component, task, task, name, 6700, counters)

    def let_read(self, hosts: list[str]) -> int:
        """Let the agents of these hosts read, and return how many have other partners than before."""
        pairs, changes = [tuple(pair) for pair in json.loads(self.content)["host_pairs"]], 0
        for host in hosts:
            former = self.partners.get(host, frozenset())
            self.partners[host] = frozenset(busiest(host, pairs, former))
            changes += self.partners[host] != former
        return changes


@pytest.mark.parametrize("hosts", [10, 12, 16, 32])
def test_partners_with_nearly_equal_rates_stay(hosts: int) -> None:
    """What an agent keeps must still be published, also if it has not read each reading."""
    cluster = Cluster(hosts)
    assert all(len(partners) == MAX_PARTNERS for partners in cluster.partners.values())
    assert len(json.loads(cluster.content)["host_pairs"]) <= MAX_PARTNERS * hosts
    changes = 0
    for _ in range(40):
        cluster.refresh()
        changes += cluster.let_read([name for name in cluster.names if cluster.chance.random() < 0.8])
    assert changes == 0


@pytest.mark.parametrize("hosts", [10, 12, 16, 32])
def test_a_host_that_becomes_clearly_busier_comes_in(hosts: int) -> None:
    """Everybody's partner it becomes at the next reading, for one other at most."""
    cluster = Cluster(hosts)
    before = dict(cluster.partners)
    busy = min(cluster.names, key=lambda name: sum(name in partners for partners in before.values()))
    others = [name for name in cluster.names if name != busy]
    assert any(busy not in before[name] for name in others)
    cluster.factors[busy] = 1.6
    cluster.refresh()
    cluster.let_read(cluster.names)
    assert all(busy in cluster.partners[name] for name in others)
    assert all(len(before[name] - cluster.partners[name]) == (busy not in before[name]) for name in others)
