"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.hosts_that_stay import MOST_ROOMS, ROOM, idle_rooms
from provisioning.loop.memory import Request, Rooms
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""
_HELPS_S = 900.0
"""A host on which nothing runs so long after it came does not help, s."""
_AGAIN_S = 1800.0
"""So long after hosts that did not help, and once they have gone, it is tried again, s."""


def with_room_asked(
    memory: Memory, pool: Pool, look: ClusterLook, leases: tuple[Lease, ...], now_s: float
) -> Memory:
    """Return the memory in which a host is asked for, once tasks of a topology have had no slot for long.

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
    unplaced = {each.name: each.tasks_without_slot for each in active if each.status == "ACTIVE"}
    unplaced = {name: tasks for name, tasks in unplaced.items() if tasks}
    # a clock that was set back begins anew
    since = {name: min(memory.without_slot.get(name, now_s), now_s) for name in unplaced}
    memory = replace(memory, without_slot=since)
    if not unplaced:
        return replace(memory, rooms=None)
    rooms = _passed(memory.rooms, sum(unplaced.values()), now_s, idle=bool(idle_rooms(look, leases)))
    memory = replace(memory, rooms=rooms)
    up = {each.request_id for each in leases if each.status == "ready" and each.host in look.supervisors}
    most = pool.hosts_most(look)
    full = most is not None and len(hosts_seen(pool, look, leases, memory, now_s)) >= most
    waits = now_s - rooms.last_s < _AFTER_S or memory.requests.keys() - up
    late = any(is_late(memory, name, now_s) for name in unplaced)
    if not late or waits or full or rooms.hosts >= MOST_ROOMS:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits, memory.lost_s, now_s)
    if offer is None:
        return memory
    request = Request(offer.name, now_s, {}, for_room=True)
    return replace(
        memory,
        requests={**memory.requests, f"{memory.instance}.{ROOM}{now_s:.0f}": request},
        rooms=replace(rooms, hosts=rooms.hosts + 1, last_s=now_s),
    )


def _passed(before: Rooms | None, tasks: int, now_s: float, *, idle: bool) -> Rooms:
    """Return what is known of hosts for tasks without a slot; `idle`: whether nothing runs on one of them."""
    if before is None or before.last_s > now_s:
        return Rooms(tasks)
    passed_s, hosts = now_s - before.last_s, before.hosts
    if tasks < before.tasks:
        hosts = 0
    elif idle and before.came_s is not None and now_s - before.came_s >= _HELPS_S:
        hosts = MOST_ROOMS
    elif not idle and hosts >= MOST_ROOMS and passed_s >= _AGAIN_S:
        hosts = 0
    return replace(before, tasks=min(tasks, before.tasks), hosts=hosts)


def is_late(memory: Memory, topology: str, now_s: float) -> bool:
    """Return whether Storm has had the time to place tasks of a topology, also since a host came for some."""
    since_s = memory.without_slot.get(topology)
    came_s = None if memory.rooms is None else memory.rooms.came_s
    if since_s is None or now_s - since_s < _AFTER_S:
        return False
    return came_s is None or not 0.0 <= now_s - came_s < _AFTER_S


def with_room_come(memory: Memory, request: Request, now_s: float | None) -> Memory:
    """Return the memory that knows that a host is up, or will not come.

    Args:
        memory: With tasks without a slot, or none.
        request: For room, or for what a policy wanted.
        now_s: When it came, s since 1970; None: it did not, and is none of those that changed nothing.
    """
    rooms = memory.rooms
    if rooms is None or not request.for_room:
        return memory
    if now_s is None:
        return replace(memory, rooms=replace(rooms, hosts=max(0, rooms.hosts - 1)))
    return replace(memory, rooms=replace(rooms, last_s=now_s, came_s=now_s))
