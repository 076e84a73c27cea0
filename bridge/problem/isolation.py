"""Topologies that get hosts for themselves: which hosts these are, and who may use which host.

`isolation.scheduler.machines` of Nimbus means what it means to Storm's isolation scheduler, and
`topology.isolate.machines` what it means to Storm's multitenant scheduler: a topology is isolated within the
pool of machines of its user, and not where users have none. The hosts follow from the round alone. A
topology keeps those where it runs, so that they are the same ones from round to round while they live.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.permits import permits_of
from bridge.wire.messages import UNASSIGNED
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Hosts
    from bridge.problem.permits import Permits
    from bridge.settings import PlanSettings
    from bridge.wire.messages import PlanRequest, Topology
    from bridge.wishes.cluster_settings import ClusterSettings
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import BoolArray


@dataclass(frozen=True, eq=False)
class Isolation:
    """Who may use which host.

    Attributes:
        own: (n_hosts,) hosts that a topology has for itself, by its position in the request.
        notes: What a topology's status line says about it, by position.
        taken: (n_hosts,) hosts of all these topologies.
        usable: (n_hosts,) hosts that may take new executors.
    """

    own: Mapping[int, BoolArray]
    notes: Mapping[int, str]
    taken: BoolArray
    usable: BoolArray

    def narrow(self, index: int, topology: Topology, permits: Permits, settings: PlanSettings) -> Permits:
        """Return the permits of a topology on the hosts that are open to it.

        An isolated topology leaves hosts that are not its own, as it leaves those that a pin forbids. Others
        leave hosts that became its own where topologies may be evicted at all, and else stay there.

        Args:
            index: Position of the topology in the request.
            topology: The topology.
            permits: Where it may run otherwise.
            settings: Whether topologies may be evicted.
        """
        own = self.own.get(index)
        if own is not None:
            # What runs where nothing new may come goes on running there.
            return permits.confined(
                topology, own, own | ~self.usable, "the hosts that the topology has for itself"
            )
        if not self.taken.any():
            return permits
        stays = ~self.taken if settings.evict else np.ones_like(self.taken)
        return permits.confined(topology, ~self.taken, stays, "the hosts that are not another topology's own")

    def concerns(self, index: int) -> bool:
        """Whether a topology may not use every host."""
        return bool(self.taken.any()) or index in self.own


def isolate(
    request: PlanRequest,
    hosts: Hosts,
    wishes: Sequence[Wishes],
    order: Sequence[int],
    cluster: ClusterSettings,
) -> Isolation:
    """Choose the hosts of the topologies that have some for themselves.

    First each keeps hosts where it runs, those with most of its executors before others; then, in the order
    of topologies, each takes further ones: those that its pins and avoidances permit to most of its
    components, of these those where fewest executors run, of these those with most ports.

    Args:
        request: The round.
        hosts: Its hosts.
        wishes: What each topology asks for.
        order: Positions of topologies, the first one first.
        cluster: Which topologies are isolated by name, and how many hosts users may have.
    """
    usable = np.array([host.usable for host in hosts.hosts], dtype=np.bool_)
    wanted, notes = _wanted(request, wishes, order, cluster)
    if not wanted:
        return Isolation({}, notes, np.zeros_like(usable), usable)
    running = _running(request, hosts)
    total = Counter[int]()
    for executors in running:
        total.update(executors)
    ports = Counter[int]()
    for supervisor, host in zip(request.supervisors, hosts.host_of_supervisor, strict=True):
        ports[host] += len(supervisor.ports) if supervisor.usable else 0
    fitting = {
        index: permits_of(request.topologies[index], wishes[index].own, hosts.hosts)
        .widened.permitted.sum(axis=0)
        .tolist()
        for index in wanted
    }
    free = {host for host in range(len(usable)) if ports[host]}
    chosen: dict[int, list[int]] = {}
    for index, most in wanted.items():
        here, fits = running[index], fitting[index]
        mine = sorted((-here[host], total[host], host) for host in free & here.keys() if fits[host])
        chosen[index] = [host for *_, host in mine[:most]]
        free.difference_update(chosen[index])
    for index, most in wanted.items():
        fits = fitting[index]
        further = sorted((-fits[host], total[host], -ports[host], host) for host in free if fits[host])
        chosen[index].extend(host for *_, host in further[: most - len(chosen[index])])
        free.difference_update(chosen[index])
    own = {index: np.isin(np.arange(len(usable)), found) for index, found in chosen.items()}
    said = {index: _note(len(chosen[index]), most) for index, most in wanted.items()}
    return Isolation(own, notes | said, np.any(list(own.values()), axis=0), usable)


def _wanted(
    request: PlanRequest, wishes: Sequence[Wishes], order: Sequence[int], cluster: ClusterSettings
) -> tuple[dict[int, int], dict[int, str]]:
    """Return how many hosts topologies want, in their order, and what is said of those that get none."""
    wanted: dict[int, int] = {}
    notes: dict[int, str] = {}
    left = dict(cluster.machines_of_user)
    for index in order:
        topology = request.topologies[index]
        # A host without any executor of it would be of no use.
        machines = min(cluster.machines.get(topology.name, 0), topology.n_executors)
        asked = min(wishes[index].storm.machines, topology.n_executors)
        if not machines and asked:
            owner = topology.owner or ""
            machines = min(asked, left.get(owner, 0))
            left[owner] = left.get(owner, 0) - machines
            if not machines and cluster.machines_of_user:
                notes[index] = (
                    f"not isolated, as the machines of its user do not allow {counted(asked, 'host')}"
                )
        if machines:
            wanted[index] = machines
    return wanted, notes


def _running(request: PlanRequest, hosts: Hosts) -> list[Counter[int]]:
    """Return how many executors of each topology run on which host."""
    return [
        Counter(
            hosts.host_of_supervisor[supervisor]
            for supervisor in topology.executor_supervisor
            if supervisor != UNASSIGNED
        )
        for topology in request.topologies
    ]


def _note(found: int, wanted: int) -> str:
    hosts = counted(found, "host")
    if found < wanted:
        return f"isolated on {hosts} only, as no more of {wanted} can be had"
    return f"isolated on {hosts}"
