"""The hosts that are considered for a topology in a cluster of more hosts than a round can look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from scheduler.base.arrays import BoolArray, FloatArray


def shortlist(
    choice: Sequence[int], hosts: Sequence[Host], room: FloatArray, permitted: BoolArray, most: int
) -> list[int]:
    """Keep at most `most` hosts, more if the executors need the room: the roomiest of each site in turn.

    Executors with other pins or avoidances have other hosts: each such group of executors gets its turn.

    Args:
        choice: Indices of the hosts to choose from.
        hosts: All hosts.
        room: (n_hosts,) executors that each host still takes.
        permitted: (n_executors, n_hosts) where executors may run.
        most: Number of hosts that is enough.

    Returns:
        Host indices, ascending.
    """
    n_executors = permitted.shape[0]
    if len(choice) <= most:
        return sorted(choice)
    turns: list[tuple[int, int, int]] = []
    for group, row in enumerate(np.unique(permitted, axis=0)):
        by_site: dict[str | None, list[int]] = {}
        for host in sorted(choice, key=lambda index: (-room[index], index)):
            if row[host]:
                by_site.setdefault(hosts[host].site, []).append(host)
        turns.extend(
            (place, group, host) for members in by_site.values() for place, host in enumerate(members)
        )
    kept: set[int] = set()
    total = 0.0
    for _, _, host in sorted(turns):
        # Twice the room that the executors need leaves the strategies something to choose from.
        if len(kept) >= most and total >= 2 * n_executors:
            break
        if host not in kept:
            kept.add(host)
            total += float(room[host])
    return sorted(kept)
