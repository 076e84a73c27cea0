"""Hosts for what has no slot: one that failed for good took room with it that no other has. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.hosts_that_stay import ROOM, is_room
from provisioning.loop.memory import Request
from provisioning.loop.offers import leased_by_offer, to_lease

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease

_AFTER_S = 180.0
"""Storm starts workers of a lost host elsewhere within two minutes, if there is room, s."""
_MOST, _WITHIN_S = 3, 10_800.0
"""So many hosts are asked for within that time for a topology: after them room is not what is missing."""


def with_room_asked(
    memory: Memory, pool: Pool, look: ClusterLook, leases: tuple[Lease, ...], now_s: float
) -> Memory:
    """Return the memory in which a host is asked for, once tasks of a topology have had no slot for long.

    A policy cannot be asked: it counts what has a slot. Nothing is said of what is to run there, as Nimbus
    places all of a topology as soon as there is room. If one host is not enough, there is another one as long
    after it, a few for each topology.

    Args:
        memory: Of a round in which no change is under way.
        pool: Hosts and topologies.
        look: What there is.
        leases: Of hosts.
        now_s: Time, s since 1970.
    """
    looks = [look.topologies[name] for name in pool.scaled if name in look.topologies]
    names = [each.name for each in looks if each.status == "ACTIVE" and each.tasks_without_slot]
    # a clock that was set back begins anew
    unplaced_s = {name: min(memory.unplaced_s.get(name, now_s), now_s) for name in names}
    rooms_s = {
        name: tuple(each for each in asked_s if 0.0 <= now_s - each < _WITHIN_S)
        for name, asked_s in memory.rooms_s.items()
        if name in look.topologies
    }
    memory = replace(memory, unplaced_s=unplaced_s, rooms_s=rooms_s)
    late = [name for name in names if is_late(memory, name, now_s)]
    name = min(late, key=lambda each: len(memory.rooms_s.get(each, ())), default=None)
    if name is None or len(memory.rooms_s.get(name, ())) >= _MOST or not _may_ask(memory, leases, now_s):
        return memory
    most = pool.hosts_most(look)
    if most is not None and len(hosts_seen(pool, look, leases, memory, now_s)) >= most:
        return memory
    leased = leased_by_offer(leases, memory.requests)
    offer = to_lease(pool.offers, leased, pool.settings.limits, memory.lost_s, now_s)
    if offer is None:
        return memory
    request = Request(offer.name, now_s, {}, room_for=name)
    return replace(
        memory,
        requests={**memory.requests, f"{memory.instance}.{ROOM}{now_s:.0f}": request},
        rooms_s={**memory.rooms_s, name: (*memory.rooms_s.get(name, ()), now_s)},
    )


def _may_ask(memory: Memory, leases: Sequence[Lease], now_s: float) -> bool:
    """Return whether no host is to come, and Storm has had the time to use the last one, or to lose one."""
    up = {each.request_id for each in leases if each.status == "ready"}
    ready_s = [each.ready_at_s or 0.0 for each in leases if each.live and is_room(each)]
    asked_s = [each for own in memory.rooms_s.values() for each in own]
    last_s = max((*ready_s, *asked_s, *memory.lost_s.values()), default=0.0)
    return not memory.requests.keys() - up and not 0.0 <= now_s - last_s < _AFTER_S


def is_late(memory: Memory, topology: str, now_s: float) -> bool:
    """Return whether Storm has had the time to place tasks of a topology that have no slot."""
    since_s = memory.unplaced_s.get(topology)
    return since_s is not None and now_s - since_s >= _AFTER_S


def without_room_asked(memory: Memory, request: Request) -> Memory:
    """Return the memory in which a host that did not come, for room or for a policy, was not asked for."""
    asked_s = memory.rooms_s.get(request.room_for, ())
    own = tuple(each for each in asked_s if each != request.asked_s)
    return replace(memory, rooms_s={**memory.rooms_s, request.room_for: own}) if asked_s else memory
