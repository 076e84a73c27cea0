"""Brings the cluster to where it is to be: all steps that are possible now, each of which may fail.

Every step asks for a state, not for a change, so that one that was cut off is simply asked for again: a
request for a host has an identity, numbers of executors are absolute, a drain holds or does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provisioning.loop.changing_executors import ChangingExecutors
from provisioning.loop.emptying_hosts import EmptyingHosts
from provisioning.loop.leasing_hosts import LeasingHosts
from provisioning.loop.step import Steps

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.step import Cluster, Drains
    from provisioning.providers.provider import Lease, Provider
    from provisioning.settings import ElasticSettings


@dataclass(frozen=True)
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
    steps: Steps = field(default_factory=Steps)

    def bring(self, memory: Memory, look: ClusterLook, leases: Sequence[Lease]) -> Memory:
        """Take all steps that are possible, and return what is left to do.

        Args:
            memory: What is to be.
            look: What there is.
            leases: Of hosts.
        """
        settings, now_s, steps = self.settings, self.now_s, self.steps
        leasing = LeasingHosts(self.provider, settings, self.names, now_s, steps)
        memory = leasing.asked(memory, look, leases)
        memory = self.changed(memory, look)
        # after it: hosts are emptied with the change that has begun, and not before, with one of their own
        emptying = EmptyingHosts(self.provider, self.drains, settings, self.names, now_s, steps)
        memory = emptying.emptied(memory, look, leases)
        return leasing.lost_given_back(memory, look, leases)

    def changed(self, memory: Memory, look: ClusterLook) -> Memory:
        """Take the steps that need no provider: without a placement nothing of a topology runs.

        Args:
            memory: What is to be.
            look: What there is.
        """
        changing = ChangingExecutors(self.cluster, self.settings, self.names, self.now_s, self.steps)
        return changing.changed(memory, look)
