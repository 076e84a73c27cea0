"""Topologies that cannot be scaled now, and why: the others are, as if these were those of others. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.replacing import is_late

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool


def without_too_large(pool: Pool, look: ClusterLook) -> tuple[Pool, tuple[str, ...]]:
    """Leave topologies alone of which an executor fits on no host that a policy may lease.

    Args:
        pool: Hosts and topologies.
        look: What there is.

    Returns:
        The pool, and one sentence each.
    """
    if pool.offer is None and not look.supervisors:
        return pool, ()  # there is nothing that they could fit on
    offer, found = pool.policy_offer(look), {}
    for topology in _active(pool, look):
        for each in topology.components.values():
            needs = pool.needs(topology.name, each)
            if each.inputs and (needs.cpu > offer.cpu or needs.memory_mb > offer.memory_mb):
                found[topology.name] = (
                    f"{topology.name}: an executor of {each.name} needs {needs.cpu:g} % of a core and"
                    f" {needs.memory_mb:g} MB, a host has {offer.cpu:g} % and {offer.memory_mb:g} MB"
                )
    return _without(pool, found)


def without_unplaced(
    pool: Pool, look: ClusterLook, memory: Memory, now_s: float
) -> tuple[Pool, tuple[str, ...]]:
    """Leave topologies alone that have had tasks without a slot for long.

    Before that all are held: Storm is about to place them, and takes room of which a policy does not know.

    Args:
        pool: Hosts and topologies.
        look: What there is.
        memory: Of the round.
        now_s: Time, s since 1970.

    Returns:
        The pool, and one sentence each.
    """
    return _without(
        pool,
        {
            each.name: f"{each.name}: {each.tasks_without_slot} of its tasks have had no slot for long"
            for each in _active(pool, look)
            if each.tasks_without_slot and is_late(memory, each.name, now_s)
        },
    )


def _active(pool: Pool, look: ClusterLook) -> Iterator[TopologyLook]:
    for name in pool.scaled:
        topology = look.topologies.get(name)
        if topology is not None and topology.status == "ACTIVE":
            yield topology


def _without(pool: Pool, found: Mapping[str, str]) -> tuple[Pool, tuple[str, ...]]:
    faults = tuple(f"{why}: it is not scaled" for why in found.values())
    return replace(pool, alone=pool.alone | found.keys()), faults
