"""Hosts that are to go: drained, looked at until nothing is left there, and given back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from provisioning.loop.pauses import with_pause_begun

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.step import Drains, Steps
    from provisioning.providers.provider import Lease, Provider
    from provisioning.settings import ElasticSettings


@dataclass(frozen=True)
class EmptyingHosts:
    """One round of it.

    Attributes:
        provider: Of hosts.
        drains: The daemon's.
        settings: Of the loop.
        names: Topologies that may be changed.
        now_s: Time, s since 1970.
        steps: What was done so far.
    """

    provider: Provider
    drains: Drains
    settings: ElasticSettings
    names: Collection[str]
    now_s: float
    steps: Steps

    def emptied(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Hold drains, give back hosts that are empty, and keep those that are not in time.

        Args:
            memory: What is to be.
            look: What there is.
            leases: Of hosts.
        """
        by_id = {each.lease_id: each for each in leases}
        draining, used = dict(memory.draining), look.hosts_with_executors
        for host, each in memory.draining.items():
            lease, supervisor = by_id.get(each.lease_id), look.supervisors.get(host)
            if lease is None or not lease.live:
                if self.steps.attempted(host, partial(self.drains.end, host)):
                    del draining[host]
                    self.steps.did("released", host, "" if lease is None else lease.reason)
                continue
            if lease.release_at_s is not None:
                continue  # the provider has it in hand
            if self.now_s > each.at_s and (lease.paid_until_s or 0.0) > each.at_s:
                if self.steps.attempted(host, partial(self.drains.end, host)):
                    del draining[host]
                    self.steps.did(
                        "kept", host, "it was not empty when its paid time ended: paid for one unit more"
                    )
                continue
            lifetime_s = each.at_s - self.now_s + 2.0 * self.settings.boot_timeout_s
            if not self.steps.attempted(host, partial(self.drains.hold, host, max(lifetime_s, 60.0))):
                break  # each of a hundred would wait for as long as this one
            if not each.held:
                memory = self._with_pauses_begun(memory, look, host)
            # workers outlive a supervisor that Nimbus does not list any more
            empty = supervisor is not None and not supervisor.used_workers and host not in used
            # a clock that was set back begins anew
            since_s = min(each.empty_s or self.now_s, self.now_s) if empty else None
            draining[host] = replace(each, empty_s=since_s, held=True)
            if since_s is not None and self.now_s - since_s >= self.settings.settle_s:
                self.steps.attempted(
                    host, partial(self.provider.release, each.lease_id, each.at_s, self.now_s)
                )
        return replace(memory, draining=draining)

    def _with_pauses_begun(self, memory: Memory, look: ClusterLook, host: str) -> Memory:
        """Return the memory in which topologies stand still of which workers leave a host.

        Those that are changed do so anyway. As many workers as leave start elsewhere, or take what leaves.
        """
        for name in self.names:
            topology = look.topologies.get(name)
            if topology is None or topology.status != "ACTIVE" or name in memory.wanted:
                continue
            leaving = sum(where == host for where, _ in topology.workers_of(topology.components))
            if leaving and name not in memory.pausing:
                memory = with_pause_begun(
                    memory, name, leaving, self.settings.topology[name].pause_s, self.now_s
                )
        return memory
