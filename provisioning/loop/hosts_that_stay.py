"""Hosts on which something runs that is not scaled now, and that stay for it. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.pool import Pool


def hosts_that_stay(pool: Pool, look: ClusterLook) -> frozenset[str]:
    """Return the hosts that are not given back, whatever a policy knows of them.

    There run executors of topologies that are left alone, or workers of which nothing is known while a
    topology cannot be read.

    Args:
        pool: Hosts and topologies.
        look: What there is.
    """
    alone = (look.topologies[name] for name in pool.alone if name in look.topologies)
    return frozenset(each.host for one in alone for each in one.executors) | hosts_of_unknown(look)


def hosts_of_unknown(look: ClusterLook) -> frozenset[str]:
    """Return the hosts with workers of which nothing is known, while a topology cannot be read."""
    if look.is_complete:
        return frozenset()
    workers = {(each.host, each.port) for one in look.topologies.values() for each in one.executors}
    known = Counter(host for host, _ in workers)
    return frozenset(host for host, each in look.supervisors.items() if each.used_workers > known[host])
