"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.memory import Request
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""


def with_room_asked(
    memory: Memory, pool: Pool, look: ClusterLook, leases: tuple[Lease, ...], now_s: float
) -> Memory:
    """Return the memory in which a host is asked for, once tasks have had no slot for long.

    A policy cannot be asked: it counts what has a slot. Nothing is said of what is to run there, as Nimbus
    places all of a topology as soon as there is room. If one host is not enough, there is another one as long
    after it.

    Args:
        memory: Of a round in which tasks have no slot, and no change is under way.
        pool: Hosts and topologies.
        look: What there is.
        leases: Of hosts.
        now_s: Time, s since 1970.
    """
    since_s = min(memory.unplaced_s or now_s, now_s)
    memory = replace(memory, unplaced_s=since_s)
    most = pool.hosts_most(look)
    full = most is not None and len(pool.hosts(look, leases, memory, now_s)) >= most
    if now_s - since_s < _AFTER_S or memory.requests or full:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits.hosts_max_of, memory.lost_s, now_s)
    if offer is None:
        return memory
    name = f"{memory.instance}.room-{now_s:.0f}"
    return replace(memory, requests={name: Request(offer.name, now_s, {})}, unplaced_s=now_s)
