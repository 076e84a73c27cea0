"""Hosts that are to be emptied, as a change of the round: nothing may come to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.network.cluster import gather_hosts
from bridge.readings.believed import read_nodes
from bridge.readings.drains import read_drains

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bridge.network.cluster import Host
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest


@dataclass(frozen=True)
class Closed:
    """A round in which hosts are to be emptied.

    Attributes:
        request: The round, where nothing may come to these hosts.
        drained: Supervisors of the hosts that are to be emptied, by index.
        doubtful: Supervisors of hosts that may be of a site that is to be emptied: they have lost their site
            with their reading. What leaves does not go there.
        hosts: Hosts of that request.
    """

    request: PlanRequest
    drained: frozenset[int]
    doubtful: frozenset[int]
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
    hosts = gather_hosts(request, settings, readings).hosts
    emptied = {host.name for host in hosts if drains.cover(host.name, host.site)}
    if not emptied:
        return None
    of_sites = any(kind == "site" for kind, _ in drains.left_s)
    doubtful = {host.name for host in hosts if of_sites and "site" in host.silent}
    drained, unsure = (
        frozenset(index for index, each in enumerate(request.supervisors) if each.host in those)
        for those in (emptied, doubtful)
    )
    closed = shut(request, drained)
    return Closed(closed, drained, unsure, gather_hosts(closed, settings, readings).hosts)


def shut(request: PlanRequest, supervisors: Collection[int]) -> PlanRequest:
    """Return the round where nothing may come to some supervisors, by index."""
    return replace(
        request,
        supervisors=tuple(
            replace(each, blacklisted=True) if index in supervisors else each
            for index, each in enumerate(request.supervisors)
        ),
    )
