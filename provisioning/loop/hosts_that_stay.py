"""Hosts on which something runs that is not scaled now, and that stay for it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from provisioning.cluster.look import STANDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease


ROOM = "room-"
"""Requests for hosts for tasks without a slot begin so, after the part that is the memory's."""
_KEPT_S = 1800.0
"""A host that was leased for tasks without a slot is kept for them for so long, s."""


def is_room(lease: Lease) -> bool:
    """Return whether a host was leased for tasks without a slot."""
    return f".{ROOM}" in lease.request_id


def hosts_that_stay(
    pool: Pool, look: ClusterLook, memory: Memory, leases: Sequence[Lease], now_s: float
) -> frozenset[str]:
    """Return the hosts that are not given back, whatever a policy knows of them.

    There run executors of topologies that are left alone or that their owners change, or workers of which
    nothing is known while a topology cannot be read; or they are kept for tasks without a slot.

    Args:
        pool: Hosts and topologies.
        look: What there is.
        memory: Which topologies have tasks without a slot.
        leases: Of hosts.
        now_s: Time, s since 1970.
    """
    alone = (one for name, one in look.topologies.items() if name in pool.alone or one.status not in STANDING)
    used = frozenset(each.host for one in alone for each in one.executors)
    return used | hosts_of_unknown(look) | hosts_kept_free(look, memory, leases, now_s)


def hosts_kept_free(
    look: ClusterLook, memory: Memory, leases: Sequence[Lease], now_s: float
) -> frozenset[str]:
    """Return the hosts that are kept for tasks without a slot, and on which nothing runs yet.

    Nimbus may need several of them at once.
    """
    if not memory.unplaced_s:
        return frozenset()
    rooms = [each for each in leases if each.live and is_room(each)]
    kept = {each.host for each in rooms if now_s - each.leased_at_s < _KEPT_S}
    return frozenset(kept - look.hosts_with_executors)


def hosts_of_unknown(look: ClusterLook) -> frozenset[str]:
    """Return the hosts with workers of which nothing is known, while a topology cannot be read."""
    if look.is_complete:
        return frozenset()
    workers = {(each.host, each.port) for one in look.topologies.values() for each in one.executors}
    known = Counter(host for host, _ in workers)
    return frozenset(host for host, each in look.supervisors.items() if each.used_workers > known[host])
