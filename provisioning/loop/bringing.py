"""Brings the cluster to where it is to be: all steps that are possible now, each of which may fail.

Every step asks for a state, not for a change, so that one that was cut off is simply asked for again: a
request for a host has an identity, numbers of executors are absolute, a drain holds or does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from formats.nimbus import NimbusError
from provisioning.cluster.drains import DrainError
from provisioning.cluster.nimbus import RebalanceRefusedError
from provisioning.loop.deciding import Room, with_changes
from provisioning.loop.memory import Pausing, Refused, Wanted
from provisioning.loop.pauses import expected_s, standing, with_pause_ended, workers_to_start
from provisioning.loop.step import Step
from provisioning.providers.machines import NotStartedError
from provisioning.providers.provider import BusyHostError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory, Request
    from provisioning.loop.step import Cluster, Drains, StepKind
    from provisioning.providers.provider import Lease, Provider
    from provisioning.settings import ElasticSettings

_AGAIN_S = 90.0
"""Nimbus is asked again if a rebalance has not come about after so long."""
_UNPLACED_S = 45.0
"""What has no placement for so long after it was asked for is taken back, s."""
_REFUSED_S = 1800.0
"""What did not come about is not asked for again for so long, s; each time in a row for twice as long."""
_REFUSED_MOST_S = 86_400.0
_TIMES = 3
"""So often it is asked; then the change is given up."""


@dataclass
class Bringing:
    """One round of it.

    Attributes:
        cluster: Nimbus.
        provider: Of hosts.
        drains: The daemon's.
        settings: Of the loop.
        names: Topologies that may be changed.
        now_s: Time, s since 1970.
        steps: What was done so far.
    """

    cluster: Cluster
    provider: Provider
    drains: Drains
    settings: ElasticSettings
    names: Collection[str]
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
        # after it: hosts are emptied with the change that has begun, and not before, with one of their own
        memory = self._hosts_emptied(memory, look, leases)
        return self._lost_given_back(memory, look, leases)

    def _hosts_asked(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        by_request = {each.request_id: each for each in leases}
        for name, request in memory.requests.items():
            lease = by_request.get(name)
            if lease is None:
                memory = self._host_asked(memory, name, request)
            elif not lease.live:
                memory = self._lost(memory, name, lease.reason or f"its lease is {lease.status}")
            elif lease.status == "ready" and lease.host in look.supervisors:
                memory = self._host_up(memory, look, lease)
            elif self.now_s - lease.leased_at_s > self.settings.boot_timeout_s and self._given_back(lease):
                limit = f"{self.settings.boot_timeout_s:.0f} s"
                said = "the provider calls it ready" if lease.status == "ready" else "it boots"
                why = f"Nimbus does not know it after {limit} ({said}): given back"
                memory = self._lost(memory, name, why)
        return memory

    def _host_asked(self, memory: Memory, name: str, request: Request) -> Memory:
        if self.now_s - request.asked_s > self.settings.boot_timeout_s:
            # whether it was ever asked for is not known: that says nothing of the offer
            self._did("host-lost", name, "the provider had none for too long")
            return _without_request(memory, name)
        try:
            self.provider.lease(request.offer, name, self.now_s)
        except NotStartedError as error:
            if len(self.settings.leased) > 1:
                return self._lost(memory, name, str(error))
            self._did("failed", name, str(error))
        except ProviderError as error:
            self._did("failed", name, str(error))
        else:
            self._did("host-asked", name, f"one of the offer {request.offer}")
        return memory

    def _lost(self, memory: Memory, name: str, why: str) -> Memory:
        """Forget a request, and remember of which offer no host came."""
        self._did("host-lost", name, why)
        lost_s = {**memory.lost_s, memory.requests[name].offer: self.now_s}
        return replace(_without_request(memory, name), lost_s=lost_s)

    def _given_back(self, lease: Lease) -> bool:
        """Give a host back at once on which nothing can run."""
        release = partial(self.provider.release, lease.lease_id, self.now_s, self.now_s, force=True)
        return self._try(lease.host or lease.request_id, release)

    def _host_up(self, memory: Memory, look: ClusterLook, lease: Lease) -> Memory:
        """Let executors start that waited for a host; after the change that is under way, if one is."""
        request = memory.requests[lease.request_id]
        names = {each.partition("/")[0] for each in request.starts}
        if any(memory.changed_s.get(name, 0.0) > request.asked_s for name in names):
            # what was to start there was decided on what was before: a change of its own, with its own pause
            self._did("host-up", lease.host, f"after {self.now_s - request.asked_s:.0f} s; decided on anew")
            return _without_request(memory, lease.request_id)
        asked = {name for name, each in memory.wanted.items() if each.asked_s is not None}
        if names & asked:
            return memory
        starts = {full: n for full, n in request.starts.items() if full.partition("/")[0] in self.names}
        wanted, _ = with_changes(memory, starts, look, self.now_s, Room(None, self._most(starts)))
        self._did("host-up", lease.host, f"after {self.now_s - request.asked_s:.0f} s")
        return replace(_without_request(memory, lease.request_id), wanted=wanted)

    def _most(self, components: Iterable[str]) -> dict[str, int]:
        """Return the stated limits of some components."""
        found = {}
        for full in components:
            name, _, component = full.partition("/")
            own = self.settings.topology[name].component.get(component)
            if own is not None and own.max is not None:
                found[full] = own.max
        return found

    def _executors_changed(self, memory: Memory, look: ClusterLook) -> Memory:
        for name, wanted in memory.wanted.items():
            topology = look.topologies.get(name)
            if topology is None or name not in self.names:
                memory = _without(memory, name)
                self._did(
                    "given-up", name, "the topology is not on the cluster, or not to be changed, any more"
                )
            elif wanted.topology_id not in ("", topology.topology_id):
                memory = _without(memory, name)
                self._did("given-up", name, "its owner has started it anew")
            elif topology.status != "ACTIVE":
                continue  # a change is under way, or its owner has paused it
            elif _reached(topology, wanted):
                memory = self._settled(memory, name, wanted)
            elif wanted.asked_s is None and name in standing(memory):
                # where a worker has to go that is still starting, Storm may start another on its port, and
                # then waits for two minutes (supervisor.worker.start.timeout.secs)
                continue
            elif wanted.asked_s is None or not 0.0 <= self.now_s - wanted.asked_s < _AGAIN_S:
                memory = self._asked(memory, look, topology, wanted)
            elif topology.tasks_without_slot and self.now_s - wanted.asked_s >= _UNPLACED_S:
                # without a placement nothing of it runs
                memory = self._taken_back(memory, look, topology, wanted, "its executors are not placed")
        return memory

    def _settled(self, memory: Memory, name: str, wanted: Wanted) -> Memory:
        changes = (*memory.changes.get(name, ()), self.now_s)[-100:]
        self._did("changed", name, _named(wanted))
        return replace(
            _without(memory, name),
            changed_s={**memory.changed_s, name: self.now_s},
            changes={**memory.changes, name: changes},
        )

    def _asked(self, memory: Memory, look: ClusterLook, topology: TopologyLook, wanted: Wanted) -> Memory:
        name = topology.name
        if wanted.times >= _TIMES:
            return self._taken_back(
                memory, look, topology, wanted, f"Nimbus was asked {_TIMES} times in vain"
            )
        asked = replace(wanted, asked_s=self.now_s, times=wanted.times + 1)
        # what follows soon would hide the end of the pause before
        memory, pause = with_pause_ended(memory, name)
        if pause is not None:
            self._did("resumed", name, "", **pause.figures())
        workers = workers_to_start(
            topology, wanted.executors, look.supervisors.keys() - memory.draining.keys()
        )
        expected = expected_s(memory, name, workers, self.settings.topology[name].pause_s)
        try:
            self.cluster.rebalance(name, wanted.executors)
        except RebalanceRefusedError as error:
            self._did("given-up", name, str(error))
            return _without(memory, name)
        except NimbusError as error:
            # it may have done it
            self._did("failed", name, str(error))
        else:
            self._did("rebalanced", name, _named(wanted), expected_pause_s=expected)
        return replace(
            memory,
            wanted={**memory.wanted, name: asked},
            pausing={**memory.pausing, name: Pausing(self.now_s, expected, workers)},
        )

    def _taken_back(
        self, memory: Memory, look: ClusterLook, topology: TopologyLook, wanted: Wanted, why: str
    ) -> Memory:
        """Ask for what there was before, and remember what did not come about."""
        name = topology.name
        self._did("given-up", name, f"{_named(wanted)}: {why}")
        refused = dict(memory.refused)
        for component, count in wanted.executors.items():
            if count > wanted.before.get(component, count):
                known = refused.get(f"{name}/{component}")
                times = 1 if known is None else known.times + 1
                until_s = self.now_s + min(_REFUSED_S * 2 ** (times - 1), _REFUSED_MOST_S)
                refused[f"{name}/{component}"] = Refused(count, until_s, times)
        memory = replace(_without(memory, name), refused=refused)
        back = {key: wanted.before[key] for key in wanted.executors if wanted.before.get(key)}
        if not back:
            return memory
        before = Wanted(back, self.now_s, topology_id=wanted.topology_id)
        return self._asked(replace(memory, wanted={**memory.wanted, name: before}), look, topology, before)

    def _hosts_emptied(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        by_id = {each.lease_id: each for each in leases}
        draining, used = dict(memory.draining), look.hosts_with_executors
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
                        "kept", host, "it was not empty when its paid time ended: paid for one unit more"
                    )
                continue
            lifetime_s = each.at_s - self.now_s + 2.0 * self.settings.boot_timeout_s
            self._try(host, partial(self.drains.hold, host, max(lifetime_s, 60.0)))
            # workers outlive a supervisor that Nimbus does not list any more
            empty = supervisor is not None and not supervisor.used_workers and host not in used
            # a clock that was set back begins anew
            since_s = min(each.empty_s or self.now_s, self.now_s) if empty else None
            draining[host] = replace(each, empty_s=since_s)
            if since_s is not None and self.now_s - since_s >= self.settings.settle_s:
                self._try(host, partial(self.provider.release, each.lease_id, each.at_s, self.now_s))
        return replace(memory, draining=draining)

    def _lost_given_back(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Give back hosts that Nimbus does not list any more, once nothing is assigned there."""
        unlisted_s: dict[str, float] = {}
        for lease in leases:
            listed = lease.host in look.supervisors
            if lease.status != "ready" or listed or lease.request_id in memory.requests:
                continue
            since_s = min(memory.unlisted_s.get(lease.host, self.now_s), self.now_s)
            unlisted_s[lease.host] = since_s
            if lease.host not in memory.unlisted_s:
                self._did("host-lost", lease.host, "Nimbus does not list it any more")
            late = self.now_s - since_s > self.settings.boot_timeout_s
            if late and lease.host not in look.hosts_with_executors and self._given_back(lease):
                self._did("released", lease.host, "Nimbus has not listed it for too long")
        return replace(memory, unlisted_s=unlisted_s)

    def _try(self, about: str, step: Callable[[], object]) -> bool:
        try:
            step()
        except BusyHostError:
            return False  # its workers are on their way out
        except (ProviderError, DrainError) as error:
            self._did("failed", about, str(error))
            return False
        return True

    def _did(self, kind: StepKind, about: str, why: str, **figures: float) -> None:
        self.steps.append(Step(kind, about, why, figures))


def _without_request(memory: Memory, name: str) -> Memory:
    return replace(memory, requests={key: each for key, each in memory.requests.items() if key != name})


def _without(memory: Memory, name: str) -> Memory:
    return replace(memory, wanted={key: each for key, each in memory.wanted.items() if key != name})


def _reached(topology: TopologyLook, wanted: Wanted) -> bool:
    counts = topology.counts()
    return all(counts[component] == count for component, count in wanted.executors.items())


def _named(wanted: Wanted) -> str:
    return ", ".join(f"{name}: {count}" for name, count in sorted(wanted.executors.items()))
