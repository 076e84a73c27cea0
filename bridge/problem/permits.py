"""Where pins, allowed places and avoidances let the executors of a topology run, and where they may stay.

A host of unknown site meets no pin to one, yet what runs there need not leave; it is at no site that is
avoided. But where agents publish the sites of others, one without a reading may have lost its agent: it is
doubtful, and executors that avoid a site come to it only if no other host has room for them. All of this is
so of tiers, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.wire.messages import UNASSIGNED
from bridge.wishes.setting_values import EVERY_COMPONENT
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host, Hosts
    from bridge.wire.messages import Topology
    from bridge.wishes.place import Place
    from bridge.wishes.topology_settings import TopologySettings
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
        settings: Their pins, allowed places and avoidances.
        hosts: Hosts of the round.
    """
    names = topology.component_names
    usable = np.array([host.usable for host in hosts], dtype=np.bool_)
    tolerated = np.ones((len(names), len(hosts)), dtype=np.bool_)
    permitted = np.tile(usable, (len(names), 1))
    doubtful = np.zeros_like(permitted)
    reasons: dict[int, str] = {}
    where = _Where(hosts)
    for row, name in enumerate(names):
        bounds = _bounds(name, settings)
        avoided = (*settings.avoid.get(EVERY_COMPONENT, ()), *settings.avoid.get(name, ()))
        for bound in bounds:
            inside = where.inside(bound)
            tolerated[row] &= inside | where.unknown(bound)
            permitted[row] &= inside
        for place in avoided:
            tolerated[row] &= ~where.at(place)
            permitted[row] &= ~where.at(place)
        if not permitted[row].any() and row in topology.executor_component:
            reasons[row] = _why_nowhere(name, bounds, where)
        for kind in sorted({place.kind for place in avoided}):
            doubtful[row] |= permitted[row] & where.silent(kind)
            permitted[row] &= ~where.silent(kind)
    return Permits(tolerated, permitted, doubtful, reasons)


def runs_where_forbidden(topology: Topology, settings: TopologySettings, hosts: Hosts) -> bool:
    """Whether an executor runs where a pin, the allowed places or an avoidance of its component forbid it.

    Args:
        topology: The topology.
        settings: Its pins, allowed places and avoidances.
        hosts: Hosts of the round; only those where it runs are looked at.
    """
    if not settings.names_places:
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


@dataclass(frozen=True, slots=True)
class _Bound:
    """Places of which one has to be that of a component's executors.

    Attributes:
        places: The places.
        phrase: What is said of the component, to be read before them.
    """

    places: tuple[Place, ...]
    phrase: str

    def __str__(self) -> str:
        return f"{self.phrase} {' or '.join(map(str, self.places))}"


def _bounds(component: str, settings: TopologySettings) -> list[_Bound]:
    pin = settings.pin.get(component)
    allowed = (settings.allow[name] for name in (EVERY_COMPONENT, component) if name in settings.allow)
    return [
        *([] if pin is None else [_Bound((pin,), "is pinned to")]),
        *(_Bound(places, "may run only at") for places in allowed),
    ]


class _Where:
    """Which hosts are where; components mostly name the same places, and each is looked for once."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = hosts
        self._at: dict[Place, BoolArray] = {}
        self._unknown: dict[str, BoolArray] = {}
        self._silent: dict[str, BoolArray] = {}

    def at(self, place: Place) -> BoolArray:
        """(n_hosts,) hosts that are known to be at a place."""
        if place not in self._at:
            key = "name" if place.kind == "host" else place.kind
            found = [getattr(host, key) == place.name for host in self._hosts]
            self._at[place] = np.array(found, dtype=np.bool_)
        return self._at[place]

    def inside(self, bound: _Bound) -> BoolArray:
        """(n_hosts,) hosts that are known to be at one of the places of a bound."""
        return np.asarray(np.any([self.at(place) for place in bound.places], axis=0), dtype=np.bool_)

    def unknown(self, bound: _Bound) -> BoolArray:
        """(n_hosts,) hosts of which that is not known."""
        unknown = np.zeros(len(self._hosts), dtype=np.bool_)
        for kind in _kinds([bound]):
            if kind not in self._unknown:
                found = [getattr(host, kind) is None for host in self._hosts]
                self._unknown[kind] = np.array(found, dtype=np.bool_)
            unknown |= self._unknown[kind]
        return unknown

    def silent(self, kind: str) -> BoolArray:
        """(n_hosts,) hosts that may have lost their site or tier."""
        if kind not in self._silent:
            found = [kind in host.silent for host in self._hosts]
            self._silent[kind] = np.array(found, dtype=np.bool_)
        return self._silent[kind]

    def without(self, kind: str) -> int:
        """Count usable hosts of unknown site or tier."""
        return sum(host.usable and getattr(host, kind) is None for host in self._hosts)


def _kinds(bounds: Sequence[_Bound]) -> list[str]:
    """Return what of a host's site and tier some bounds go by."""
    return sorted({place.kind for bound in bounds for place in bound.places} - {"host"})


def _why_nowhere(component: str, bounds: Sequence[_Bound], where: _Where) -> str:
    if not bounds:
        return f"no usable host is permitted to {component}"
    # One that no host meets says more than all of them together.
    missed = next((bound for bound in bounds if not where.inside(bound).any()), None)
    told = bounds if missed is None else [missed]
    sentence = f"{component} {' and '.join(map(str, told))}"
    notes = [
        f"{counted(count, 'host has', 'hosts have')} no {kind}"
        for kind in _kinds(told)
        if (count := where.without(kind))
    ]
    note = f" ({', '.join(notes)})" if notes else ""
    if missed is None:
        return f"{sentence}, where no usable host is permitted{note}"
    if note:
        return f"{sentence}, whose hosts are not known at present{note}"
    return f"{sentence}, {'which is not' if len(missed.places) == 1 else 'none of which is'} in the cluster"
