"""Topologies with workers on hosts that Nimbus does not list. Pure.

Storm moves them within two minutes, or they outlive their supervisor and go on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool

_AFTER_S = 180.0


def unlisted_hosts(topology: TopologyLook, look: ClusterLook) -> tuple[str, ...]:
    """Return the hosts of its executors that Nimbus does not list."""
    return tuple(sorted({each.host for each in topology.executors} - look.supervisors.keys()))


def with_unlisted_noted(memory: Memory, pool: Pool, look: ClusterLook, now_s: float) -> Memory:
    """Return the memory with the topologies that have workers on such hosts, and since when.

    Args:
        memory: From the rounds before.
        pool: Hosts and topologies.
        look: What there is.
        now_s: Time, s since 1970.
    """
    looks = [look.topologies[name] for name in pool.names if name in look.topologies]
    names = [each.name for each in looks if each.status == "ACTIVE" and unlisted_hosts(each, look)]
    # a clock that was set back begins anew
    astray_s = {name: min(memory.astray_s.get(name, now_s), now_s) for name in names}
    return replace(memory, astray_s=astray_s)


def without_unlisted(
    pool: Pool, look: ClusterLook, memory: Memory, now_s: float
) -> tuple[Pool, tuple[str, ...]]:
    """Leave topologies alone that have had workers on such hosts for long; before that all are held.

    Args:
        pool: Hosts and topologies.
        look: What there is.
        memory: Of the round.
        now_s: Time, s since 1970.

    Returns:
        The pool, and one sentence each.
    """
    late = [name for name, since_s in memory.astray_s.items() if now_s - since_s >= _AFTER_S]
    faults = tuple(
        f"{name}: it has had workers on {', '.join(unlisted_hosts(look.topologies[name], look))} for long,"
        " which Nimbus does not list: it is not scaled"
        for name in late
    )
    return replace(pool, alone=pool.alone | set(late)), faults
