"""Hosts that were asked for: leased, looked for, and given back if nothing can run there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from provisioning.cluster.look import RESTING
from provisioning.loop.deciding import Room, with_changes
from provisioning.loop.replacing import is_late, without_room_asked
from provisioning.providers.machines import NotStartedError
from provisioning.providers.provider import ProviderError
from scheduler.elasticity.layers.one_pool.parameters import topology_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory, Request
    from provisioning.loop.step import Steps
    from provisioning.providers.provider import Lease, Provider
    from provisioning.settings import ElasticSettings

_MOST_CALLS = 32
"""Hosts that are asked for in a round: each may take seconds, in which nothing else is looked at."""
_THERE = ("ready", "draining")
"""States of leases whose hosts have been up."""


@dataclass(frozen=True)
class LeasingHosts:
    """One round of it.

    Attributes:
        provider: Of hosts.
        settings: Of the loop.
        names: Topologies that may be changed.
        now_s: Time, s since 1970.
        steps: What was done so far.
    """

    provider: Provider
    settings: ElasticSettings
    names: Collection[str]
    now_s: float
    steps: Steps

    def asked(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Ask for hosts, and let executors start on those that are up.

        Args:
            memory: What is to be.
            look: What there is.
            leases: Of hosts.
        """
        by_request = {each.request_id: each for each in leases}
        silent: set[str] = set()
        calls = 0
        for name, request in memory.requests.items():
            lease = by_request.get(name)
            if lease is None and request.offer not in silent and calls < _MOST_CALLS:
                memory, answers = self._host_asked(memory, name, request)
                silent |= set() if answers else {request.offer}
                calls += 1
            elif lease is None:
                continue  # each of a hundred would wait for as long as the one before
            elif not lease.live:
                memory = self._lost(memory, name, lease.reason or f"its lease is {lease.status}")
            elif _takes_executors(look, lease) and (lease.status == "ready" or self._is_late(lease)):
                # a provider that goes on saying that it boots is not believed
                memory = self._host_up(memory, look, lease)
            elif self._is_late(lease) and not _is_busy(look, lease.host) and self._given_back(lease):
                limit = f"{self.settings.boot_timeout_s:.0f} s"
                said = "the provider calls it ready" if lease.status == "ready" else "it boots"
                known = "bans it still" if lease.host in look.banned else "does not know it"
                why = f"Nimbus {known} after {limit} ({said}): given back"
                memory = self._lost(memory, name, why)
        return memory

    def lost_given_back(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Give back hosts that Nimbus does not list any more, once nothing is assigned there.

        Those, too, that are to be given back later: whether workers run there cannot be found out then.

        Args:
            memory: What is to be.
            look: What there is.
            leases: Of hosts.
        """
        unlisted_s: dict[str, float] = {}
        for lease in leases:
            listed = lease.host in look.supervisors
            if lease.status not in _THERE or listed or lease.request_id in memory.requests:
                continue
            since_s = min(memory.unlisted_s.get(lease.host, self.now_s), self.now_s)
            unlisted_s[lease.host] = since_s
            if lease.host not in memory.unlisted_s:
                self.steps.did("host-lost", lease.host, "Nimbus does not list it any more")
            # what cannot be read now may be assigned there, and may be read again
            limit_s = self.settings.boot_timeout_s * (1.0 if look.is_complete else 2.0)
            late = self.now_s - since_s > limit_s
            if late and lease.host not in look.hosts_with_executors and self._given_back(lease):
                self.steps.did("released", lease.host, "Nimbus has not listed it for too long")
        return replace(memory, unlisted_s=unlisted_s)

    def _is_late(self, lease: Lease) -> bool:
        return self.now_s - lease.leased_at_s > self.settings.boot_timeout_s

    def _host_asked(self, memory: Memory, name: str, request: Request) -> tuple[Memory, bool]:
        """Ask for a host, and say whether it is worth asking for more of the offer in this round."""
        if self.now_s - request.asked_s > self.settings.boot_timeout_s:
            # whether it was ever asked for is not known: that says nothing of the offer
            self.steps.did("host-lost", name, "the provider had none for too long")
            return without_room_asked(_without_request(memory, name), request), True
        try:
            self.provider.lease(request.offer, name, self.now_s)
        except NotStartedError as error:
            if len(self.settings.leased) > 1:
                return self._lost(memory, name, str(error)), True
            self.steps.did("failed", name, str(error))
        except ProviderError as error:
            self.steps.did("failed", name, str(error))
            return memory, False
        else:
            self.steps.did("host-asked", name, f"one of the offer {request.offer}")
        return memory, True

    def _lost(self, memory: Memory, name: str, why: str) -> Memory:
        """Forget a request, and remember of which offer no host came."""
        self.steps.did("host-lost", name, why)
        request = memory.requests[name]
        lost_s = {**memory.lost_s, request.offer: self.now_s}
        return without_room_asked(replace(_without_request(memory, name), lost_s=lost_s), request)

    def _given_back(self, lease: Lease) -> bool:
        """Give a host back at once on which nothing can run."""
        release = partial(self.provider.release, lease.lease_id, self.now_s, self.now_s, force=True)
        return self.steps.attempted(lease.host or lease.request_id, release)

    def _host_up(self, memory: Memory, look: ClusterLook, lease: Lease) -> Memory:
        """Let executors start that waited for a host; after the change that is under way, if one is."""
        request = memory.requests[lease.request_id]
        after = _without_request(memory, lease.request_id)
        names = {topology_of(each) for each in request.starts}
        if any(_is_another(look, memory, name, request) for name in names):
            # what was to start there was decided on what was before: a change of its own, with its own pause
            self.steps.did(
                "host-up", lease.host, f"after {self.now_s - request.asked_s:.0f} s; decided on anew"
            )
            return after
        asked = {name for name, each in memory.wanted.items() if each.asked_s is not None}
        alone = {name for name in names if is_late(memory, name, self.now_s)}
        if names & asked or any(_is_in_between(look, name) for name in names - alone):
            return memory
        may_start = {*self.names} - alone
        starts = {full: n for full, n in request.starts.items() if topology_of(full) in may_start}
        wanted, _ = with_changes(memory, starts, look, self.now_s, Room(None, self._most(starts)))
        self.steps.did("host-up", lease.host, f"after {self.now_s - request.asked_s:.0f} s")
        return replace(after, wanted=wanted)

    def _most(self, components: Iterable[str]) -> dict[str, int]:
        """Return the stated limits of some components."""
        found = {}
        for full in components:
            name, _, component = full.partition("/")
            own = self.settings.topology[name].component.get(component)
            if own is not None and own.max is not None:
                found[full] = own.max
        return found


def _takes_executors(look: ClusterLook, lease: Lease) -> bool:
    # one that could not be stopped at once may be at any time
    there = lease.host in look.supervisors and lease.host not in look.banned
    return there and lease.release_at_s is None


def _is_busy(look: ClusterLook, host: str) -> bool:
    return host in look.supervisors and look.supervisors[host].used_workers > 0


def _is_another(look: ClusterLook, memory: Memory, name: str, request: Request) -> bool:
    """Return whether a topology has changed, or was started anew, since a host was asked for."""
    topology, meant = look.topologies.get(name), request.topology_ids.get(name)
    started_anew = topology is not None and meant is not None and topology.topology_id != meant
    return started_anew or memory.changed_s.get(name, 0.0) > request.asked_s


def _is_in_between(look: ClusterLook, name: str) -> bool:
    """Return whether what a topology has now is not what it is to have, whatever starts."""
    topology = look.topologies.get(name)
    if topology is None or topology.fault or topology.status in RESTING:
        return False
    return topology.status != "ACTIVE" or topology.tasks_without_slot > 0


def _without_request(memory: Memory, name: str) -> Memory:
    return replace(memory, requests={key: each for key, each in memory.requests.items() if key != name})
