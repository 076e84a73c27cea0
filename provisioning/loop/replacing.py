"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.hosts_that_stay import MOST_ROOMS, ROOM, idle_rooms
from provisioning.loop.memory import Request, WithoutSlot
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""
_AGAIN_S = 1800.0
"""So long after these, and once they have gone, it is tried with one more, s."""


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
    rooms = bool(idle_rooms(look, leases))
    without_slot = {
        each.name: _passed(memory.without_slot.get(each.name), each.tasks_without_slot, now_s, rooms=rooms)
        for each in (look.topologies[name] for name in pool.scaled if name in look.topologies)
        if each.status == "ACTIVE" and each.tasks_without_slot
    }
    memory = replace(memory, without_slot=without_slot)
    due = [name for name, each in without_slot.items() if _is_due(each, now_s)]
    up = {each.request_id for each in leases if each.status == "ready" and each.host in look.supervisors}
    most = pool.hosts_most(look)
    full = most is not None and len(hosts_seen(pool, look, leases, memory, now_s)) >= most
    if not due or memory.requests.keys() - up or full:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits, memory.lost_s, now_s)
    if offer is None:
        return memory
    request, before = Request(offer.name, now_s, {}, room_for=due[0]), without_slot[due[0]]
    asked = replace(before, since_s=now_s, hosts=before.hosts + 1)
    return replace(
        memory,
        requests={**memory.requests, f"{memory.instance}.{ROOM}{now_s:.0f}": request},
        without_slot={**without_slot, due[0]: asked},
    )


def _passed(before: WithoutSlot | None, tasks: int, now_s: float, *, rooms: bool) -> WithoutSlot:
    """Return what is known of tasks without a slot now; `rooms`: whether a host that was to help is there."""
    if before is None or before.since_s > now_s:
        return WithoutSlot(now_s, tasks)
    passed_s, hosts = now_s - before.since_s, before.hosts
    if tasks < before.tasks:
        hosts = 0
    elif hosts >= MOST_ROOMS and not rooms and passed_s >= _AGAIN_S:
        hosts = MOST_ROOMS - 1
    late = before.late or passed_s >= _AFTER_S
    return replace(before, tasks=min(tasks, before.tasks), hosts=hosts, late=late)


def _is_due(without_slot: WithoutSlot, now_s: float) -> bool:
    return now_s - without_slot.since_s >= _AFTER_S and without_slot.hosts < MOST_ROOMS


def is_late(memory: Memory, topology: str, now_s: float) -> bool:
    """Return whether Storm has had the time to place tasks of a topology, also since a host came for them."""
    known = memory.without_slot.get(topology)
    if known is None or not known.late:
        return False
    return known.came_s is None or not 0.0 <= now_s - known.came_s < _AFTER_S


def with_room_come(memory: Memory, request: Request, now_s: float | None) -> Memory:
    """Return the memory that knows that a host is up, or will not come.

    Args:
        memory: With tasks without a slot, or none.
        request: For room, or for what a policy wanted.
        now_s: When it came, s since 1970; None: it did not, and is none of those that changed nothing.
    """
    known = memory.without_slot.get(request.room_for)
    if known is None:
        return memory
    if now_s is None:
        lost = replace(known, hosts=max(0, known.hosts - 1))
        return replace(memory, without_slot={**memory.without_slot, request.room_for: lost})
    # it may be enough for all of them
    without_slot = {
        name: replace(each, since_s=now_s, came_s=now_s) for name, each in memory.without_slot.items()
    }
    return replace(memory, without_slot=without_slot)
