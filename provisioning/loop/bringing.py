"""Brings the cluster to where it is to be: all steps that are possible now, each of which may fail.

Every step asks for a state, not for a change, so that one that was cut off is simply asked for again: a
request for a host has an identity, numbers of executors are absolute, a drain holds or does not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from formats.nimbus import NimbusError
from provisioning.cluster.drains import DrainError
from provisioning.cluster.nimbus import RebalanceRefusedError
from provisioning.loop.deciding import with_changes
from provisioning.loop.memory import Wanted
from provisioning.providers.provider import BusyHostError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.providers.provider import Lease, Provider
    from provisioning.settings import ElasticSettings

_AGAIN_S = 90.0
"""Nimbus is asked again if a rebalance has not come about after so long."""
_TIMES = 3
"""So often it is asked; then the change is given up."""

StepKind = Literal[
    "host-asked",
    "host-up",
    "host-lost",
    "rebalanced",
    "changed",
    "given-up",
    "drained",
    "released",
    "kept",
    "failed",
]


@dataclass(frozen=True)
class Step:
    """Something that was done, or could not be done.

    Attributes:
        kind: What.
        about: Topology, host or request.
        why: One sentence, or what it was.
    """

    kind: StepKind
    about: str
    why: str = ""


class Drains(Protocol):
    """Tells the placement daemon which hosts are to be empty."""

    def hold(self, host: str, lifetime_s: float) -> None:
        """Drain a host, for so long at the most if this is not said again.

        Raises:
            DrainError: That cannot be said now.
        """

    def end(self, host: str) -> None:
        """Let executors come again; a host that is not drained stays so.

        Raises:
            DrainError: That cannot be said now.
        """


class Cluster(Protocol):
    """What is asked of Nimbus."""

    def rebalance(self, name: str, executors: Mapping[str, int]) -> None:
        """Change how many executors components of a topology have."""


@dataclass
class Bringing:
    """One round of it.

    Attributes:
        cluster: Nimbus.
        provider: Of hosts.
        drains: The daemon's.
        settings: Of the loop.
        now_s: Time, s since 1970.
        steps: What was done so far.
    """

    cluster: Cluster
    provider: Provider
    drains: Drains
    settings: ElasticSettings
    now_s: float
    steps: list[Step] = field(default_factory=list)

    def bring(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Take all steps that are possible, and return what is left to do.

        Args:
            memory: What is to be.
            look: What there is.
            leases: Of hosts.
        """
        memory = self._hosts_asked(memory, look, leases)
        memory = self._executors_changed(memory, look)
        return self._hosts_emptied(memory, look, leases)

    def _hosts_asked(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        by_request = {each.request_id: each for each in leases}
        requests, wanted = dict(memory.requests), dict(memory.wanted)
        for name, request in memory.requests.items():
            lease = by_request.get(name)
            if lease is None:
                if self._try(name, partial(self.provider.lease, request.offer, name, self.now_s)):
                    self._did("host-asked", name, f"one of the offer {request.offer}")
            elif not lease.live:
                del requests[name]
                self._did("host-lost", name, lease.reason or f"its lease is {lease.status}")
            elif lease.status == "ready" and lease.host in look.supervisors:
                if {each.partition("/")[0] for each in request.starts} & wanted.keys():
                    continue  # one change after the other: each restarts workers
                del requests[name]
                wanted, _ = with_changes(wanted, Counter(request.starts), look, self.now_s)
                self._did("host-up", lease.host, f"after {self.now_s - request.asked_s:.0f} s")
            elif self.now_s - request.asked_s > self.settings.boot_timeout_s:
                given_back = self._try(
                    name,
                    partial(self.provider.release, lease.lease_id, self.now_s, self.now_s, force=True),
                )
                if given_back:
                    del requests[name]
                    limit = f"{self.settings.boot_timeout_s:.0f} s"
                    said = "the provider calls it ready" if lease.status == "ready" else "it boots"
                    self._did(
                        "host-lost", name, f"Nimbus does not know it after {limit} ({said}): given back"
                    )
        return replace(memory, requests=requests, wanted=wanted)

    def _executors_changed(self, memory: Memory, look: ClusterLook) -> Memory:
        for name, wanted in memory.wanted.items():
            topology = look.topologies.get(name)
            if topology is None:
                memory = _without(memory, name)
                self._did("given-up", name, "the topology is not on the cluster any more")
            elif topology.status != "ACTIVE":
                continue  # a change is under way, or its owner has paused it
            elif _reached(topology, wanted):
                changes = (*memory.changes.get(name, ()), self.now_s)[-100:]
                memory = replace(
                    _without(memory, name),
                    changed_s={**memory.changed_s, name: self.now_s},
                    changes={**memory.changes, name: changes},
                )
                self._did("changed", name, _named(wanted))
            elif wanted.asked_s is None or not 0.0 <= self.now_s - wanted.asked_s < _AGAIN_S:
                memory = self._asked(memory, name, wanted)
        return memory

    def _asked(self, memory: Memory, name: str, wanted: Wanted) -> Memory:
        if wanted.times >= _TIMES:
            self._did("given-up", name, f"{_named(wanted)}: Nimbus was asked {_TIMES} times in vain")
            back = {key: wanted.before[key] for key in wanted.executors if wanted.before.get(key)}
            if not back:
                return _without(memory, name)
            # without a placement nothing of it runs
            wanted = Wanted(back, self.now_s)
            memory = replace(memory, wanted={**memory.wanted, name: wanted})
        try:
            self.cluster.rebalance(name, wanted.executors)
        except RebalanceRefusedError as error:
            self._did("given-up", name, str(error))
            return _without(memory, name)
        except NimbusError as error:
            self._did("failed", name, str(error))
            return memory
        self._did("rebalanced", name, _named(wanted))
        asked = replace(wanted, asked_s=self.now_s, times=wanted.times + 1)
        return replace(memory, wanted={**memory.wanted, name: asked})

    def _hosts_emptied(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        by_id = {each.lease_id: each for each in leases}
        draining = dict(memory.draining)
        for host, each in memory.draining.items():
            lease, supervisor = by_id.get(each.lease_id), look.supervisors.get(host)
            if lease is None or not lease.live:
                if self._try(host, partial(self.drains.end, host)):
                    del draining[host]
                    self._did("released", host, "" if lease is None else lease.reason)
                continue
            if lease.release_at_s is not None:
                continue  # the provider has it in hand
            if self.now_s > each.at_s and (lease.paid_until_s or 0.0) > each.at_s:
                if self._try(host, partial(self.drains.end, host)):
                    del draining[host]
                    self._did(
                        "kept",
                        host,
                        "it was not empty when its paid time ended: it is paid for one more unit",
                    )
                continue
            lifetime_s = each.at_s - self.now_s + 2.0 * self.settings.boot_timeout_s
            self._try(host, partial(self.drains.hold, host, max(lifetime_s, 60.0)))
            empty = supervisor is None or not supervisor.used_workers
            # a clock that was set back begins anew
            since_s = min(each.empty_s or self.now_s, self.now_s) if empty else None
            draining[host] = replace(each, empty_s=since_s)
            if since_s is not None and self.now_s - since_s >= self.settings.settle_s:
                self._try(host, partial(self.provider.release, each.lease_id, each.at_s, self.now_s))
        return replace(memory, draining=draining)

    def _try(self, about: str, step: Callable[[], object]) -> bool:
        try:
            step()
        except BusyHostError:
            return False  # its workers are on their way out
        except (ProviderError, DrainError) as error:
            self._did("failed", about, str(error))
            return False
        return True

    def _did(self, kind: StepKind, about: str, why: str) -> None:
        self.steps.append(Step(kind, about, why))


def _without(memory: Memory, name: str) -> Memory:
    return replace(memory, wanted={key: each for key, each in memory.wanted.items() if key != name})


def _reached(topology: TopologyLook, wanted: Wanted) -> bool:
    counts = topology.counts()
    return all(counts[component] == count for component, count in wanted.executors.items())


def _named(wanted: Wanted) -> str:
    return ", ".join(f"{name}: {count}" for name, count in sorted(wanted.executors.items()))
