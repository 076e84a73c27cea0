"""Hosts that are to go: drained, looked at until nothing is left there, and given back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from provisioning.loop.pauses import standing, with_change_counted, with_pause_begun, with_pause_ended

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Draining, Memory
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
        draining, used, begun = dict(memory.draining), look.hosts_with_executors, []
        starting = self._starting(memory, look)
        answers = True  # else each of a hundred would wait for as long as the one before
        for host, each in memory.draining.items():
            lease, supervisor = by_id.get(each.lease_id), look.supervisors.get(host)
            if lease is None or not lease.live:
                answers = answers and self.steps.attempted(host, partial(self.drains.end, host))
                if answers:
                    del draining[host]
                    self.steps.did("released", host, "" if lease is None else lease.reason)
                continue
            if lease.release_at_s is not None:
                # the provider has it in hand; until it is gone nothing may start there again
                answers = answers and self._holds(host, each)
                continue
            if self.now_s > each.at_s and (lease.paid_until_s or 0.0) > each.at_s:
                answers = answers and self.steps.attempted(host, partial(self.drains.end, host))
                if answers:
                    del draining[host]
                    why = "it was not empty when its paid time ended: paid for one unit more"
                    self.steps.did("kept", host, why)
                continue
            if not each.held and host in starting:
                continue  # Storm may start another worker on the port of one that is not up yet
            answers = answers and self._holds(host, each)
            if answers and not each.held:
                begun.append(host)
            # workers outlive a supervisor that Nimbus does not list any more
            empty = supervisor is not None and not supervisor.used_workers and host not in used
            # a clock that was set back begins anew
            since_s = min(each.empty_s or self.now_s, self.now_s) if empty else None
            held = each.held or host in begun
            draining[host] = replace(each, empty_s=since_s, held=held)
            if held and since_s is not None and self.now_s - since_s >= self.settings.settle_s:
                at_s = min(each.at_s, self.now_s) if each.at_once else each.at_s
                release = partial(self.provider.release, each.lease_id, at_s, self.now_s)
                self.steps.attempted(host, release)
        return replace(self._with_pauses_begun(memory, look, frozenset(begun)), draining=draining)

    def _holds(self, host: str, draining: Draining) -> bool:
        """Say whether a host is drained; a call for each of hundreds in each round would take too long."""
        ends_s = draining.at_s + 2.0 * self.settings.boot_timeout_s
        if draining.held and self.now_s < ends_s - self.settings.boot_timeout_s:
            return True
        lifetime_s = max(ends_s - self.now_s, 60.0)
        return self.steps.attempted(host, partial(self.drains.hold, host, lifetime_s))

    def _starting(self, memory: Memory, look: ClusterLook) -> frozenset[str]:
        """Return the hosts on which topologies stand still for another change than one of this round."""
        names = standing(memory) - memory.wanted.keys()
        looks = [each for name, each in look.topologies.items() if name in names]
        return frozenset(executor.host for each in looks for executor in each.executors)

    def _with_pauses_begun(self, memory: Memory, look: ClusterLook, hosts: Collection[str]) -> Memory:
        """Return the memory in which topologies stand still of which workers leave some hosts.

        Those that are changed, or stand still already, do so anyway. As many workers as leave start
        elsewhere, or take what leaves.
        """
        for name in self.names:
            topology = look.topologies.get(name)
            if topology is None or topology.status != "ACTIVE" or name in {*memory.wanted, *standing(memory)}:
                continue
            leaving = sum(host in hosts for host, _ in topology.workers_of(topology.components))
            if not leaving:
                continue
            memory, pause = with_pause_ended(memory, name)
            if pause is not None:
                self.steps.did("resumed", name, "", **pause.figures())
            stated_s = self.settings.topology[name].pause_s
            memory = with_pause_begun(memory, name, leaving, stated_s, self.now_s)
            memory = with_change_counted(memory, name, self.now_s)
        return memory
