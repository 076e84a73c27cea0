"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.memory import Request, Unplaced
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""
_ROOM = "room-"
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
        memory: Of a round in which no change is under way.
        pool: Hosts and topologies.
        look: What there is.
        leases: Of hosts.
        now_s: Time, s since 1970.
    """
    active = [look.topologies[name] for name in pool.scaled if name in look.topologies]
    tasks = sum(each.tasks_without_slot for each in active if each.status == "ACTIVE")
    before = memory.unplaced
    if not tasks:
        return memory if before is None else replace(memory, unplaced=None)
    if before is None or before.since_s > now_s:
        return replace(memory, unplaced=Unplaced(now_s, tasks))
    if tasks < before.tasks:
        before = replace(before, tasks=tasks, hosts=0)
    due = now_s - before.since_s >= _AFTER_S
    before = replace(before, late=before.late or due)
    memory = replace(memory, unplaced=before)
    up = {each.request_id for each in leases if each.status == "ready" and each.host in look.supervisors}
    most = pool.hosts_most(look)
    full = most is not None and len(hosts_seen(pool, look, leases, memory, now_s)) >= most
    if not due or memory.requests.keys() - up or full or before.hosts >= _MOST:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits, memory.lost_s, now_s)
    if offer is None:
        return memory
    name = f"{memory.instance}.{_ROOM}{now_s:.0f}"
    return replace(
        memory,
        requests={**memory.requests, name: Request(offer.name, now_s, {})},
        unplaced=replace(before, since_s=now_s, hosts=before.hosts + 1),
    )


def is_late(unplaced: Unplaced, now_s: float) -> bool:
    """Return whether Storm has had the time to place tasks, also since a host came for them."""
    came_s = unplaced.came_s
    return unplaced.late and (came_s is None or not 0.0 <= now_s - came_s < _AFTER_S)


def with_room_come(memory: Memory, request: str, now_s: float | None) -> Memory:
    """Return the memory that knows that a host is up, or will not come.

    Args:
        memory: With tasks without a slot, or none.
        request: For room, or for what a policy wanted.
        now_s: When it came, s since 1970; None: it did not, and is none of those that changed nothing.
    """
    unplaced = memory.unplaced
    if unplaced is None or not request.startswith(f"{memory.instance}.{_ROOM}"):
        return memory
    if now_s is None:
        return replace(memory, unplaced=replace(unplaced, hosts=max(0, unplaced.hosts - 1)))
    return replace(memory, unplaced=replace(unplaced, since_s=now_s, came_s=now_s))
