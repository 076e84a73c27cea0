"""Where pins and avoidances let the executors of a topology run, and where they may stay.

A host of unknown site meets no pin to one, yet what runs there need not leave; it is at no site that is
avoided. But where agents publish the sites of others, one without a reading may have lost its agent: it is
doubtful, and executors that avoid a site come to it only if no other host has room for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.topology_settings import EVERY_COMPONENT
from bridge.wire.messages import UNASSIGNED
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host, Hosts
    from bridge.problem.topology_settings import Place, TopologySettings
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import BoolArray


@dataclass(frozen=True, eq=False)
class Permits:
    """The hosts of each component.

    Attributes:
        tolerated: (n_components, n_hosts) where what runs may stay, dead and blacklisted hosts included.
        permitted: (n_components, n_hosts) usable hosts where executors may come.
        doubtful: (n_components, n_hosts) usable hosts where they may come if the permitted have no room.
        reasons: Why, by component that has executors and may come nowhere.
    """

    tolerated: BoolArray
    permitted: BoolArray
    doubtful: BoolArray
    reasons: Mapping[int, str]

    @property
    def widened(self) -> Permits:
        """Take the doubtful hosts for permitted ones."""
        none = np.zeros_like(self.doubtful)
        return Permits(self.tolerated, self.permitted | self.doubtful, none, self.reasons)

    def closed_to(self, hosts: BoolArray) -> Permits:
        """Let no executor come to some hosts, but for components that have no others; what runs may stay.

        Args:
            hosts: (n_hosts,) the hosts.
        """
        others = ~self._left_by(hosts)
        return replace(self, permitted=self.permitted & others, doubtful=self.doubtful & others)

    def without(self, hosts: BoolArray) -> Permits:
        """Let executors neither come to nor stay at some hosts, but for components that have no others.

        Args:
            hosts: (n_hosts,) the hosts.
        """
        return replace(self.closed_to(hosts), tolerated=self.tolerated & ~self._left_by(hosts))

    def confined(self, topology: Topology, hosts: BoolArray, tolerated: BoolArray, name: str) -> Permits:
        """Let executors come to some hosts only.

        Args:
            topology: Their topology.
            hosts: (n_hosts,) where they may come, if nothing else forbids it.
            tolerated: (n_hosts,) where what runs may stay, likewise.
            name: What these hosts are called where a component that could come elsewhere finds none of them.
        """
        before = (self.permitted | self.doubtful).any(axis=1)
        present = set(topology.executor_component)
        permitted, doubtful = self.permitted & hosts, self.doubtful & hosts
        lost = set(np.flatnonzero(before & ~(permitted | doubtful).any(axis=1)).tolist())
        names = topology.component_names
        reasons = {row: f"{names[row]} may not come to any of {name}" for row in sorted(lost & present)}
        return replace(
            self,
            permitted=permitted,
            doubtful=doubtful,
            tolerated=self.tolerated & tolerated,
            reasons={**self.reasons, **reasons},
        )

    def _left_by(self, hosts: BoolArray) -> BoolArray:
        """(n_components, n_hosts) those of some hosts that a component can do without."""
        return np.asarray((self.permitted & ~hosts).any(axis=1, keepdims=True) & hosts, dtype=np.bool_)


def permits_of(topology: Topology, settings: TopologySettings, hosts: Sequence[Host]) -> Permits:
    """Work out where the executors of a topology may run at all.

    Args:
        topology: Its components.
        settings: Their pins and avoidances.
        hosts: Hosts of the round.
    """
    names = topology.component_names
    usable = np.array([host.usable for host in hosts], dtype=np.bool_)
    tolerated = np.ones((len(names), len(hosts)), dtype=np.bool_)
    permitted = np.tile(usable, (len(names), 1))
    doubtful = np.zeros_like(permitted)
    silent = np.array([host.silent for host in hosts], dtype=np.bool_)
    reasons: dict[int, str] = {}
    for row, name in enumerate(names):
        pin = settings.pin.get(name)
        avoided = (*settings.avoid.get(EVERY_COMPONENT, ()), *settings.avoid.get(name, ()))
        if pin is not None:
            unknown = np.array([pin.kind == "site" and host.site is None for host in hosts], dtype=np.bool_)
            tolerated[row] &= _at(hosts, pin) | unknown
            permitted[row] &= _at(hosts, pin)
        for place in avoided:
            tolerated[row] &= ~_at(hosts, place)
            permitted[row] &= ~_at(hosts, place)
        if not permitted[row].any() and row in topology.executor_component:
            reasons[row] = _why_nowhere(name, pin, hosts)
        if any(place.kind == "site" for place in avoided):
            doubtful[row] = permitted[row] & silent
            permitted[row] &= ~silent
    return Permits(tolerated, permitted, doubtful, reasons)


def runs_where_forbidden(topology: Topology, settings: TopologySettings, hosts: Hosts) -> bool:
    """Whether an executor runs where a pin or avoidance of its component forbids it.

    Args:
        topology: The topology.
        settings: Its pins and avoidances.
        hosts: Hosts of the round; only those where it runs are looked at.
    """
    if not (settings.pin or settings.avoid):
        return False
    runs = [
        (component, hosts.host_of_supervisor[supervisor])
        for component, supervisor in zip(
            topology.executor_component, topology.executor_supervisor, strict=True
        )
        if supervisor != UNASSIGNED
    ]
    place = {host: column for column, host in enumerate(sorted({host for _, host in runs}))}
    tolerated = permits_of(topology, settings, [hosts.hosts[host] for host in place]).tolerated
    return not all(tolerated[component, place[host]] for component, host in runs)


def _at(hosts: Sequence[Host], place: Place) -> BoolArray:
    """(n_hosts,) hosts that are known to be at a place."""
    names = [host.site if place.kind == "site" else host.name for host in hosts]
    return np.array([name == place.name for name in names], dtype=np.bool_)


def _why_nowhere(component: str, pin: Place | None, hosts: Sequence[Host]) -> str:
    if pin is None:
        return f"no usable host is permitted to {component}"
    unknown = sum(host.usable and host.site is None for host in hosts) if pin.kind == "site" else 0
    note = f" ({counted(unknown, 'host has', 'hosts have')} no site)" if unknown else ""
    if _at(hosts, pin).any():
        return f"{component} is pinned to {pin}, where no usable host is permitted{note}"
    if unknown:
        return f"{component} is pinned to {pin}, whose hosts are not known at present{note}"
    return f"{component} is pinned to {pin}, which is not in the cluster"
