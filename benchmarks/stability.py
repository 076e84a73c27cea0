"""How often a running query moves although nothing changes but what is measured.

The query has the eight operators of the taxi query, source and sink pinned to one host, on the cluster of
lab/sites/response-time.toml. Rounds are planned one after the other, each plan is carried out, and time is
simulated; the first round is without noise.

    python -m benchmarks.stability --hours 5 --seed 2
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.messages import (
    UNASSIGNED,
    ComponentKind,
    Decision,
    Grouping,
    PlanRequest,
    Reading,
    ReadingKind,
    Supervisor,
    Topology,
)

if TYPE_CHECKING:
    from bridge.wire.messages import TopologyPlan

SITES = Path(__file__).parents[1] / "lab" / "sites" / "response-time.toml"
LOCAL_MS = 0.25
SOURCES = ("links", "coordinates", "partners")
RULES = {
    "nothing waits": {"cool_down_s": 0, "stabilisation_s": 0},
    "cool-down alone": {"stabilisation_s": 0},
    "stabilisation alone": {"cool_down_s": 0},
    "defaults": {},
}
COMPONENTS = ("source", "parse", "filter", "route", "count", "metronome", "partial", "sink")
STREAMS = ((0, 1), (1, 2), (2, 3), (2, 5), (3, 4), (5, 4), (4, 6), (6, 7))
PINS = {"source": "host:uniroma2-1", "sink": "host:uniroma2-1"}


@dataclass
class Cluster:
    """Hosts at sites, and what they measure.

    Attributes:
        hosts: Site by name of host.
        delay_ms: One-way delay by pair of sites; may be changed between rounds.
        source: `links`: a direct link for each pair; `coordinates`: no links; `partners`: links between hosts
            that exchange tuples, and coordinates with errors that stay.
        noise: Delays and each number of a coordinate are multiplied by something between 1 - noise and
            1 + noise, in each round anew.
        random: Where the noise comes from.
        gone: Sites that have vanished.
        partners: Pairs of hosts that exchange tuples.
    """

    hosts: dict[str, str]
    delay_ms: dict[frozenset[str], float]
    source: str
    noise: float
    random: np.random.Generator
    gone: frozenset[str] = frozenset()
    partners: frozenset[frozenset[str]] = frozenset()

    @staticmethod
    def of_experiment(source: str, noise: float = 0.0, seed: int = 0, hosts_per_site: int = 32) -> Cluster:
        """The cluster of the wide-area experiment, with so many hosts per site at most."""
        file = tomllib.loads(SITES.read_text(encoding="utf-8"))
        hosts = {
            f"{site['name']}-{number}": site["name"]
            for site in file["site"]
            for number in range(1, min(site["supervisors"], hosts_per_site) + 1)
        }
        delay_ms = {frozenset(link["between"]): float(link["delay_ms"]) for link in file["link"]}
        return Cluster(hosts, delay_ms, source, noise, np.random.default_rng(seed))

    def readings(self) -> tuple[Reading, ...]:
        """What the hosts that are there publish."""
        position = self._positions()
        random = np.random.default_rng(0) if self.source == "partners" else self.random
        factor = random.uniform(1 - self.noise, 1 + self.noise, (len(self.hosts), position.shape[1] + 1))
        sites = sorted(set(self.hosts.values()))
        present = [host for host, site in self.hosts.items() if site not in self.gone]
        rows = []
        for index, (host, site) in enumerate(self.hosts.items()):
            if site in self.gone:
                continue
            links = {
                peer: {"delay_ms": self._between(host, peer), "age_s": 1.0}
                for peer in present[present.index(host) + 1 :]
                if self.source == "links" or frozenset((host, peer)) in self.partners
            }
            content = {
                "version": 1,
                "time": 1.0,
                "sequence": 1,
                "lifetime_s": 30.0,
                "host": host,
                "site": site,
                "coordinate": (position[sites.index(site)] * factor[index, :-1]).tolist(),
                "height": LOCAL_MS / 2 * factor[index, -1],
                "error": self.noise,
                "availability": 0.999,
                "links": {} if self.source == "coordinates" else links,
            }
            rows.append(Reading(ReadingKind.NODE, host, json.dumps(content).encode(), 500))
        return tuple(rows)

    def _between(self, host: str, peer: str) -> float:
        site, other = self.hosts[host], self.hosts[peer]
        true_ms = LOCAL_MS if site == other else self.delay_ms[frozenset((site, other))]
        noise = 0.0 if self.source == "partners" else self.noise
        return true_ms * float(self.random.uniform(1 - noise, 1 + noise))

    def _positions(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Coordinates of the sites in three dimensions by classical scaling, (n_sites, 3) in ms."""
        sites = sorted(set(self.hosts.values()))
        delay = np.array(
            [[0.0 if a == b else self.delay_ms[frozenset((a, b))] for b in sites] for a in sites]
        )
        centre = np.eye(len(sites)) - 1 / len(sites)
        values, vectors = np.linalg.eigh(-0.5 * centre @ delay**2 @ centre)
        return np.asarray(vectors[:, -3:] * np.sqrt(np.maximum(values[-3:], 0.0)))


class Query:
    """The running query: rounds 10 s apart, each on the result of the one before.

    Attributes:
        cluster: Where it runs.
        now_s: Time of the next round.
        moves: Time and gain of each move of running executors.
        hosts: Host of each executor, None where it has none.
    """

    def __init__(self, cluster: Cluster, move: MoveSettings, strategy: str = "local-search") -> None:
        self.cluster = cluster
        self.now_s = 0.0
        self.moves: list[tuple[float, float]] = []
        self.hosts: list[str | None] = [None] * len(COMPONENTS)
        self._settings = Settings(move=move, plan=PlanSettings(strategy=strategy, time_limit_ms=600_000))
        self._memory = NOTHING

    def round(self, every_s: float = 10.0) -> TopologyPlan:
        """Plan a round, carry its plan out, and let time pass."""
        self.hosts = [
            None if host is not None and self.cluster.hosts[host] in self.cluster.gone else host
            for host in self.hosts
        ]
        self.cluster.partners = frozenset(
            frozenset((self.hosts[a] or "", self.hosts[b] or "")) for a, b in STREAMS
        )
        done = plan_round(self._request(), self._settings, lambda: 0.0, memory=self._memory, now_s=self.now_s)
        self._memory = done.memory
        (answer,) = done.response.plans
        if answer.decision is Decision.ASSIGN:
            names = list(self.cluster.hosts)
            if answer.price is not None and answer.price.executors_moved:
                self.moves.append((self.now_s, answer.price.gain))
            self.hosts = [names[index] for index in answer.executor_supervisor]
        self.now_s += every_s
        return answer

    def _request(self) -> PlanRequest:
        names = list(self.cluster.hosts)
        supervisors = tuple(
            Supervisor(
                id=host,
                host=host,
                ports=(6700, 6701),
                alive=site not in self.cluster.gone,
                blacklisted=False,
                cpu_percent=0.0,
                memory_mb=0.0,
                meta={"stormplace.site": site, "stormplace.executors": "2"},
            )
            for host, site in self.cluster.hosts.items()
        )
        count = len(COMPONENTS)
        topology = Topology(
            id="query-1",
            name="query",
            num_workers=count,
            settings_json=json.dumps({"topology.stormplace.pin": PINS}),
            component_names=COMPONENTS,
            component_kinds=(ComponentKind.SPOUT, *(ComponentKind.BOLT,) * (count - 1)),
            stream_from=tuple(source for source, _ in STREAMS),
            stream_to=tuple(target for _, target in STREAMS),
            stream_ids=("default",) * len(STREAMS),
            stream_groupings=(Grouping.SHUFFLE,) * len(STREAMS),
            executor_first_task=tuple(range(1, count + 1)),
            executor_last_task=tuple(range(1, count + 1)),
            executor_component=tuple(range(count)),
            executor_cpu_percent=(0.0,) * count,
            executor_memory_mb=(0.0,) * count,
            executor_supervisor=tuple(
                UNASSIGNED if host is None else names.index(host) for host in self.hosts
            ),
            executor_port=tuple(UNASSIGNED if host is None else 6700 for host in self.hosts),
        )
        return PlanRequest(1, "round", 600_000, supervisors, (topology,), self.cluster.readings(), True)


def noisy_hours(source: str, noise: float, seed: int, hours: float, rule: dict[str, Any]) -> Query:
    """Run the query for some hours and return what became of it."""
    query = Query(Cluster.of_experiment(source, 0.0, seed), MoveSettings(**rule))
    query.round()
    query.cluster = replace(query.cluster, noise=noise)
    while query.now_s < hours * 3600:
        query.round()
    return query


def main() -> None:
    """Print moves per hour by what is measured and by what waits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0, help="simulated time per line")
    parser.add_argument(
        "--noise", type=float, default=0.2, help="greatest relative error of what is measured"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", choices=SOURCES, action="append", help="default: all")
    parser.add_argument("--rule", choices=RULES, action="append", help="default: all")
    parser.add_argument("--min-gain", type=float, default=MoveSettings().min_gain)
    options = parser.parse_args()
    for source in options.source or SOURCES:
        for name in options.rule or RULES:
            began = time.process_time()
            rule = {**RULES[name], "min_gain": options.min_gain}
            query = noisy_hours(source, options.noise, options.seed, options.hours, rule)
            seconds = time.process_time() - began
            moves = len(query.moves)
            print(
                f"{source}, {name}: {moves} moves in {options.hours:g} h ({seconds:.0f} s of CPU)", flush=True
            )


if __name__ == "__main__":
    main()
