"""Where pins and avoidances let the executors of a topology run, and where they may stay.

A host that tells no site proves nothing: no executor comes to it that must be at a site or away from one, and
none that runs there has to leave. So a silent agent neither breaks a pin nor opens a site that is avoided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.topology_settings import EVERY_COMPONENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.cluster import Host
    from bridge.messages import Topology
    from bridge.topology_settings import Place, TopologySettings
    from scheduler.arrays import BoolArray


@dataclass(frozen=True, eq=False)
class Permits:
    """The hosts of each component.

    Attributes:
        tolerated: (n_components, n_hosts) where what runs may stay, dead and blacklisted hosts included.
        permitted: (n_components, n_hosts) where executors may come: usable hosts that are known to suit.
        reasons: Why, by component that has executors and is permitted nowhere.
    """

    tolerated: BoolArray
    permitted: BoolArray
    reasons: Mapping[int, str]


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
    reasons: dict[int, str] = {}
    for row, name in enumerate(names):
        pin = settings.pin.get(name)
        avoided = (*settings.avoid.get(EVERY_COMPONENT, ()), *settings.avoid.get(name, ()))
        if pin is not None:
            tolerated[row] &= _at(hosts, pin) | _untold(hosts, pin)
            permitted[row] &= _at(hosts, pin)
        for place in avoided:
            tolerated[row] &= ~_at(hosts, place)
            permitted[row] &= ~(_at(hosts, place) | _untold(hosts, place))
        if not permitted[row].any() and row in topology.executor_component:
            reasons[row] = _why_nowhere(name, pin, avoided, hosts)
    return Permits(tolerated, permitted, reasons)


def _at(hosts: Sequence[Host], place: Place) -> BoolArray:
    """(n_hosts,) hosts that are known to be at a place."""
    names = [host.site if place.kind == "site" else host.name for host in hosts]
    return np.array([name == place.name for name in names], dtype=np.bool_)


def _untold(hosts: Sequence[Host], place: Place) -> BoolArray:
    """(n_hosts,) hosts that may be at a place or not, as nothing tells their site at present."""
    return np.array([place.kind == "site" and host.site is None for host in hosts], dtype=np.bool_)


def _why_nowhere(component: str, pin: Place | None, avoided: Sequence[Place], hosts: Sequence[Host]) -> str:
    of_sites = any(place.kind == "site" for place in (*avoided, *(() if pin is None else (pin,))))
    untold = sum(host.usable and host.site is None for host in hosts) if of_sites else 0
    told = f" ({untold} host{'s tell' if untold > 1 else ' tells'} no site)" if untold else ""
    if pin is None:
        return f"no usable host is permitted to {component}{told}"
    if _at(hosts, pin).any():
        return f"{component} is pinned to {pin}, where no usable host is permitted{told}"
    if pin.kind == "site" and untold:
        return f"{component} is pinned to {pin}, whose hosts are not known at present{told}"
    return f"{component} is pinned to {pin}, which is not in the cluster"
