"""A cluster, a provider and drains that exist in memory only, and can be killed at any call."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from provisioning.cluster.drains import DrainError
from provisioning.cluster.look import (
    ClusterLook,
    RunningExecutor,
    Source,
    StormComponent,
    SupervisorLook,
    TopologyLook,
)
from provisioning.loop.active import ActiveLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.measuring.task_meters import TaskReadings
from provisioning.providers.machines import NotStartedError
from provisioning.providers.provider import BusyHostError, HostOffer, Lease, LeaseStatus, ProviderError
from provisioning.settings import ElasticSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

UNIT_S = 600.0
OFFER = HostOffer("small", 400.0, 4096.0, 4, UNIT_S, 1.0, 60.0)
TOPOLOGY, TOPOLOGY_ID = "words", "words-1-1700000000"
ROUND_S = 15.0


class Killed(BaseException):
    """The process was killed."""


@dataclass
class World:
    """What there is, whoever looks.

    Attributes:
        demand_per_s: Items that the spout emits.
        service_ms: Of the bolt.
        now_s: Time.
        kill_at: The call at which the process is killed; None: never.
    """

    demand_per_s: float = 20.0
    service_ms: float = 100.0
    now_s: float = 1_700_000_000.0
    kill_at: int | None = None
    calls: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"spout": 1, "bolt": 2})
    tasks: int = 24
    status: str = "ACTIVE"
    spoken: bool = True
    pause_s: float | None = 6.0
    untold_pause_s: float | None = None
    watched: frozenset[int] = frozenset()
    script: str = ""
    given: dict[str, Lease] = field(default_factory=dict)
    drained: set[str] = field(default_factory=set)
    own_hosts: tuple[str, ...] = ("own-1",)
    refuse: bool = False
    offered: tuple[HostOffer, ...] = (OFFER,)
    sold_out: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    never_up: bool = False
    rebalances: int = 0
    dropped: int = 0
    dead: set[str] = field(default_factory=set)
    killed: bool = False
    places: int = 10_000
    unplaced: set[str] = field(default_factory=set)
    unlisted: set[str] = field(default_factory=set)
    banned: set[str] = field(default_factory=set)
    unstoppable: bool = False
    topology_id: str = TOPOLOGY_ID
    rebalance_fails: Exception | None = None
    drain_fails: bool = False
    stubborn: bool = False
    silent: bool = False
    says_booting: bool = False
    listed_all_the_same: set[str] = field(default_factory=set)
    holds: list[str] = field(default_factory=list)

    def call(self) -> None:
        """Count the beginning and the end of a call that has an effect: the process may be killed there."""
        self.calls += 1
        if self.calls == self.kill_at:
            raise Killed

    # Nimbus

    def look(self, names: Collection[str] = (TOPOLOGY,)) -> ClusterLook:
        hosts = self.hosts_up()
        used = Counter(each.host for each in self.executors() if not self.killed)
        supervisors = {
            host: SupervisorLook(host, int(used[host] > 0), 400.0, 4096.0, host in self.banned)
            for host in hosts
        }
        components = {
            "spout": StormComponent("spout", 1, (), shell=False, cpu=10.0, memory_mb=128.0),
            "bolt": StormComponent(
                "bolt",
                self.tasks,
                (Source("spout", "default"),),
                shell=bool(self.script),
                cpu=10.0,
                memory_mb=128.0,
                script=self.script,
            ),
        }
        placed = self.counts["bolt"] <= self.places
        executors = tuple(each for each in self.executors() if placed and each.host not in self.unplaced)
        supervisors = {host: each for host, each in supervisors.items() if host not in self.unlisted}
        topology = TopologyLook(TOPOLOGY, self.topology_id, self.status, components, executors)
        there = TOPOLOGY in names and not self.killed
        return ClusterLook(supervisors, {TOPOLOGY: topology} if there else {})

    def hosts_up(self) -> list[str]:
        up = [each.host for each in self.given.values() if self.is_up(each)]
        return [*self.own_hosts, *([] if self.never_up else [host for host in up if host not in self.dead])]

    def is_up(self, lease: Lease) -> bool:
        booted = lease.status == "booting" and self.now_s - lease.leased_at_s >= OFFER.boot_s
        really = self.says_booting and booted
        return lease.status in ("ready", "draining") or really or lease.host in self.listed_all_the_same

    def executors(self) -> tuple[RunningExecutor, ...]:
        """Place executors evenly on hosts that are not drained, the spout first."""
        closed = self.banned if self.stubborn else self.banned | self.drained
        hosts = [each for each in self.hosts_up() if each not in closed]
        hosts = hosts or self.hosts_up()
        found, task = [RunningExecutor("spout", 1, 1, hosts[0], 6700)], 2
        for n in range(self.counts["bolt"]):
            share = self.tasks // self.counts["bolt"] + (n < self.tasks % self.counts["bolt"])
            host = hosts[(n + 1) % len(hosts)]
            found.append(RunningExecutor("bolt", task, task + share - 1, host, 6700))
            task += share
        return tuple(found)

    def rebalance(self, name: str, executors: Mapping[str, int]) -> None:
        assert name == TOPOLOGY
        self.call()
        self.rebalances += 1
        if self.rebalance_fails is not None:
            raise self.rebalance_fails
        self.counts.update(executors)
        self.call()

    # drains

    def hold(self, host: str, lifetime_s: float) -> None:
        assert lifetime_s > 0.0
        self.call()
        if self.drain_fails:
            raise DrainError("ZooKeeper does not answer")
        self.drained.add(host)
        self.holds.append(host)
        self.call()

    def end(self, host: str) -> None:
        self.call()
        self.drained.discard(host)
        self.call()

    # provider

    def offers(self) -> Sequence[HostOffer]:
        return self.offered

    def lease(self, offer: str, request_id: str, now_s: float) -> Lease:
        assert offer in {each.name for each in self.offered}
        self.call()
        if self.refuse:
            raise ProviderError("there are no hosts left")
        name = f"host-{len(self.given) + 1}"
        if offer in self.sold_out:
            raise NotStartedError(f"{offer} is sold out")
        status: LeaseStatus = "failed" if offer in self.failing else "booting"
        lease = self.given.setdefault(request_id, Lease(name, request_id, offer, status, now_s, name))
        self.call()
        return lease

    def release(self, lease_id: str, not_before_s: float, now_s: float, *, force: bool = False) -> Lease:
        self.call()
        lease = next(each for each in self.given.values() if each.lease_id == lease_id)
        if not force and not self.killed and lease.host in {each.host for each in self.executors()}:
            raise BusyHostError(f"workers run on {lease.host}")
        gone = (force or not_before_s <= now_s) and not self.unstoppable
        self.given[lease.request_id] = replace(
            lease, status="gone" if gone else "draining", release_at_s=not_before_s
        )
        self.call()
        if self.unstoppable and (force or not_before_s <= now_s):
            raise ProviderError("it could not be stopped: the cloud refuses")
        return self.given[lease.request_id]

    def leases(self, now_s: float) -> Sequence[Lease]:
        if self.silent:
            raise ProviderError("the cloud does not answer")
        for name, each in self.given.items():
            lease = each
            is_up = now_s - lease.leased_at_s >= OFFER.boot_s and not self.says_booting
            if lease.status == "booting" and is_up:
                ready_s = lease.leased_at_s + OFFER.boot_s
                lease = replace(lease, status="ready", ready_at_s=ready_s, paid_until_s=ready_s + UNIT_S)
            due = lease.release_at_s is not None and lease.release_at_s <= now_s
            if lease.status == "draining" and due and self.unstoppable:
                lease = replace(lease, trouble="it could not be stopped: the cloud refuses")
            elif lease.status == "draining" and due and lease.host not in self.dead:
                # whether workers run on a host that Nimbus does not list is not known
                lease = replace(lease, status="gone", trouble="")
            while lease.live and lease.paid_until_s is not None and lease.paid_until_s < now_s:
                lease = replace(lease, paid_until_s=lease.paid_until_s + UNIT_S)
            self.given[name] = lease
        return tuple(self.given.values())

    # reporters

    def follow(self, topology_ids: Collection[str]) -> None:
        self.dropped += self.topology_id not in topology_ids

    def readings(self, topology_id: str, since_s: float) -> TaskReadings:
        assert topology_id == self.topology_id
        if not self.spoken or since_s > self.now_s - 1.0:
            return TaskReadings({}, {}, {})
        bolts = [each for each in self.executors() if each.component == "bolt"]
        tasks = [task for each in bolts for task in range(each.first_task, each.last_task + 1)]
        rates = {(task, "__execute-count-spout:default"): self.demand_per_s / len(tasks) for task in tasks}
        rates[1, "__emit-count-default"] = self.demand_per_s
        # as if the workers had run for a while
        values = {key: 1000.0 * rate for key, rate in rates.items()}
        values |= {(task, "__execute-latency-spout:default"): self.service_ms for task in tasks}
        values |= {(each.first_task, "receive-queue-population"): 0.0 for each in self.executors()}
        spoke_s = {each.first_task: (self.now_s - 10.0, self.now_s) for each in self.executors()}
        return TaskReadings(rates, values, spoke_s)

    def watch(self, topology_id: str, tasks: Collection[int], sample_rate: float = 1.0) -> None:
        assert topology_id == self.topology_id
        assert 0.0 < sample_rate <= 1.0
        self.watched = frozenset(tasks)

    def still_s(self, topology_id: str) -> float | None:
        assert topology_id == self.topology_id
        return self.pause_s if self.watched else None

    def untold_s(self, topology_id: str) -> float | None:
        assert topology_id == self.topology_id
        return self.untold_pause_s


def settings_of(**changes: object) -> ElasticSettings:
    """Return settings for the world."""
    table = {
        "state_directory": "unused",
        "capacity": "executors",
        "executors_per_host": 4,
        "limits": {"reconfigurations_per_hour": 100},
        "policy": {"parameters": {"keep_peak_s": 0.0, "penalty": 0.01, "release_lead_s": 120.0}},
        "topology": {TOPOLOGY: {"mode": "active", "pause_s": 0.1}},
        **changes,
    }
    return ElasticSettings.model_validate(table)


def loop_of(world: World, folder: Path, settings: ElasticSettings | None = None) -> ActiveLoop:
    """Return a loop, as it is after each start of the process."""
    settings = settings or settings_of()
    offer, *further = world.offered
    pool = Pool(settings, offer, tuple(settings.topology), further=tuple(further))
    seeing = Seeing(settings, world, {})
    return ActiveLoop(pool, world, world, world, seeing, MemoryFile(folder / "active.json"))
