"""Hosts that are to be emptied, as a change of the round: nothing may come to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.network.cluster import gather_hosts
from bridge.readings.believed import read_nodes
from bridge.readings.drains import read_drains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest


@dataclass(frozen=True)
class Closed:
    """A round in which hosts are to be emptied.

    Attributes:
        request: The round, where nothing may come to these hosts; nor, while a site is emptied, to hosts that
            may have lost their site with their reading.
        drained: Supervisors of the hosts that are to be emptied, by index.
        hosts: Hosts of that request.
    """

    request: PlanRequest
    drained: frozenset[int]
    hosts: Sequence[Host]


def close(request: PlanRequest, settings: Settings) -> Closed | None:
    """Look for hosts that are to be emptied; None if there are none.

    Args:
        request: The round as the shim sees it.
        settings: The daemon's settings.
    """
    drains = read_drains(request.drains)
    if not drains.left_s:
        return None
    names = frozenset(supervisor.host for supervisor in request.supervisors)
    readings = read_nodes(request, names, settings.readings)
    hosts = gather_hosts(request, settings.capacity, readings).hosts
    emptied = {host.name for host in hosts if drains.cover(host.name, host.site)}
    if not emptied:
        return None
    of_sites = any(kind == "site" for kind, _ in drains.left_s)
    shut = emptied | {host.name for host in hosts if of_sites and host.silent}
    supervisors = tuple(
        replace(each, blacklisted=True) if each.host in shut else each for each in request.supervisors
    )
    closed = replace(request, supervisors=supervisors)
    return Closed(
        request=closed,
        drained=frozenset(index for index, each in enumerate(supervisors) if each.host in emptied),
        hosts=gather_hosts(closed, settings.capacity, readings).hosts,
    )
