"""Hosts on which something runs that is not scaled now, and that stay for it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease


ROOM = "room-"
"""Requests for hosts for tasks without a slot begin so, after the part that is the memory's."""
MOST_ROOMS = 3
"""Hosts that are leased in a row without any task more having a slot: room is not what is missing then."""


def hosts_that_stay(pool: Pool, look: ClusterLook, memory: Memory, leases: Sequence[Lease]) -> frozenset[str]:
    """Return the hosts that are not given back, whatever a policy knows of them.

    There run executors of topologies that are left alone, or workers of which nothing is known while a
    topology cannot be read; or they were leased for tasks without a slot, and more may follow.

    Args:
        pool: Hosts and topologies.
        look: What there is.
        memory: How many were leased for tasks without a slot.
        leases: Of hosts.
    """
    more_may_follow = memory.rooms is not None and memory.rooms.hosts < MOST_ROOMS
    rooms = idle_rooms(look, leases) if more_may_follow else frozenset()
    alone = (look.topologies[name] for name in pool.alone if name in look.topologies)
    return frozenset(each.host for one in alone for each in one.executors) | hosts_of_unknown(look) | rooms


def idle_rooms(look: ClusterLook, leases: Sequence[Lease]) -> frozenset[str]:
    """Return the hosts that were leased for tasks without a slot, and on which nothing runs."""
    rooms = {each.host for each in leases if each.live and each.host and f".{ROOM}" in each.request_id}
    return frozenset(rooms - look.hosts_with_executors)


def hosts_of_unknown(look: ClusterLook) -> frozenset[str]:
    """Return the hosts with workers of which nothing is known, while a topology cannot be read."""
    if look.is_complete:
        return frozenset()
    workers = {(each.host, each.port) for one in look.topologies.values() for each in one.executors}
    known = Counter(host for host, _ in workers)
    return frozenset(host for host, each in look.supervisors.items() if each.used_workers > known[host])
