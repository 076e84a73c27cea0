"""Agents without sockets: their own parts on a scripted network and a clock of its own.

Shared by the tests of monitoring and by `benchmarks.monitoring.vivaldi_simulation`.
"""

from __future__ import annotations

import heapq
import random
import statistics
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from monitoring.agent.latency_filter import LatencyFilter
from monitoring.agent.pace import Pace
from monitoring.agent.peers import PeerChooser
from monitoring.agent.vivaldi import Vivaldi, VivaldiParameters
from monitoring.zookeeper.peer_pool import PeerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

# one-way delays between data centres in ms: Table 5 of the paper that the strategies come from
_TABLE_5 = {
    "uniroma2": {"west1": 28, "west2": 34, "west3": 22, "west4": 28, "north1": 53, "us": 120},
    "west1": {"west2": 7, "west3": 8, "west4": 8, "north1": 33, "us": 93},
    "west2": {"west3": 13, "west4": 11, "north1": 38, "us": 88},
    "west3": {"west4": 7, "north1": 32, "us": 98},
    "west4": {"north1": 31, "us": 98},
    "north1": {"us": 125},
}
_LOCAL_MS = 0.25


class Delays(Protocol):
    """One-way delays of ordered pairs of hosts, in ms."""

    def __getitem__(self, pair: tuple[str, str]) -> float: ...

    def __iter__(self) -> Iterator[tuple[str, str]]: ...


def table_5_ms(hosts_of: dict[str, int]) -> dict[tuple[str, str], float]:
    """Give the delays between hosts of some of Table 5's data centres, by site and number of hosts."""
    hosts = [(site, f"{site}-{n}") for site, count in hosts_of.items() for n in range(1, count + 1)]
    result = {}
    for site_a, a in hosts:
        for site_b, b in hosts:
            if a != b:
                far = _TABLE_5.get(site_a, {}).get(site_b) or _TABLE_5.get(site_b, {}).get(site_a)
                result[a, b] = _LOCAL_MS if site_a == site_b else float(far or 0)
    return result


class Simulation:
    """Every host probes at its own pace; probes take no time of their own.

    Args:
        delay_ms: The network; may be replaced while the simulation runs.
        seed: Decides everything.
        parameters: Of each host's coordinate.
        disturb: Turns a true delay into a measured one.
    """

    def __init__(
        self,
        delay_ms: Delays,
        seed: int,
        parameters: VivaldiParameters | None = None,
        disturb: Callable[[random.Random, float], float] = lambda _rng, delay: delay,
    ) -> None:
        self.delay_ms = delay_ms
        self._disturb = disturb
        self._rng = random.Random(seed)
        self.now_s = 0.0
        self.hosts: dict[str, Any] = {}
        names = sorted({a for a, _ in delay_ms})
        for name in names:
            rng = random.Random(f"{seed}/{name}")
            pool = PeerPool(rng)
            pool.update(peer for peer in names if peer != name)
            host = SimpleNamespace(
                vivaldi=Vivaldi(parameters or VivaldiParameters(), rng),
                filter=LatencyFilter(),
                chooser=PeerChooser(rng),
                pace=Pace(1.0, rng),
                probes=0,
            )
            host.chooser.update(pool.members())
            self.hosts[name] = host
        self._due = [(self._rng.random() * 0.25, name) for name in names]
        heapq.heapify(self._due)

    def run(self, until_s: float) -> Simulation:
        """Let time pass up to a moment."""
        while self._due[0][0] <= until_s:
            self.now_s, name = heapq.heappop(self._due)
            self._probe(name)
            delay_s = self.hosts[name].pace.next_delay_s(sent=True)
            heapq.heappush(self._due, (self.now_s + delay_s, name))
        return self

    def run_probes(self, per_host: int) -> Simulation:
        """Let time pass until each host has sent so many probes."""
        while min(host.probes for host in self.hosts.values()) < per_host:
            self.run(self._due[0][0])
        return self

    def _probe(self, name: str) -> None:
        host = self.hosts[name]

        def distance_ms(peer: str) -> float:
            delay = host.filter.look(peer, self.now_s)
            return float("inf") if delay is None else float(delay.delay_ms)

        peer = host.chooser.choose(distance_ms)
        sample_ms = self._disturb(self._rng, self.delay_ms[name, peer])
        host.vivaldi.observe(
            host.filter.add(peer, self.now_s, sample_ms), self.hosts[peer].vivaldi.coordinate
        )
        host.probes += 1

    def estimates_ms(self, names: list[str]) -> NDArray[np.float64]:
        """Return the estimated delays between some hosts, shape (n_names, n_names); none to themselves."""
        places = [self.hosts[name].vivaldi.coordinate for name in names]
        position, height = np.array([p.position_ms for p in places]), np.array([p.height_ms for p in places])
        between = np.linalg.norm(position[:, None] - position, axis=2) + height[:, None] + height
        np.fill_diagonal(between, 0.0)
        return np.asarray(between)

    def relative_errors(self) -> list[float]:
        """Compare all estimated delays with the true ones."""
        return [
            abs(self.hosts[a].vivaldi.coordinate.delay_ms(self.hosts[b].vivaldi.coordinate) - true) / true
            for a, b in self.delay_ms
            for true in (self.delay_ms[a, b],)
        ]

    def median_error(self) -> float:
        """Return the median relative error."""
        return statistics.median(self.relative_errors())
