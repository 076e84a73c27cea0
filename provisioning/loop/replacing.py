"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.memory import Request, Unplaced
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""
_MOST = 3
"""Hosts that are leased in a row without any task more having a slot: room is not what is missing then."""


def with_room_asked(
    memory: Memory, pool: Pool, look: ClusterLook, leases: tuple[Lease, ...], now_s: float
) -> Memory:
    """Return the memory in which a host is asked for, once tasks have had no slot for long.

    A policy cannot be asked: it counts what has a slot. Nothing is said of what is to run there, as Nimbus
    places all of a topology as soon as there is room. If one host is not enough, there is another one as long
    after it, but for a few that change nothing.

    Args:
        memory: Of a round in which tasks have no slot, and no change is under way.
        pool: Hosts and topologies.
        look: What there is.
        leases: Of hosts.
        now_s: Time, s since 1970.
    """
    active = [look.topologies[name] for name in pool.names if name in look.topologies]
    tasks = sum(each.tasks_without_slot for each in active if each.status == "ACTIVE")
    before = memory.unplaced
    if before is None or before.since_s > now_s:
        return replace(memory, unplaced=Unplaced(now_s, tasks))
    before = replace(before, tasks=tasks, hosts=0 if tasks < before.tasks else before.hosts)
    memory = replace(memory, unplaced=before)
    up = {each.request_id for each in leases if each.status == "ready" and each.host in look.supervisors}
    most = pool.hosts_most(look)
    full = most is not None and len(pool.hosts(look, leases, memory, now_s)) >= most
    waits = now_s - before.since_s < _AFTER_S or memory.requests.keys() - up
    if waits or full or before.hosts >= _MOST:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits, memory.lost_s, now_s)
    if offer is None:
        return memory
    name = f"{memory.instance}.room-{now_s:.0f}"
    return replace(
        memory,
        requests={**memory.requests, name: Request(offer.name, now_s, {})},
        unplaced=Unplaced(now_s, tasks, before.hosts + 1),
    )
