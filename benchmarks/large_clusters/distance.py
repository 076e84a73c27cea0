"""Mean edge distance of an assignment in Storm's own topography.

Two executors are 0 apart in one worker, 1 on one host, 2 in one rack, else 3. The distance of an edge is the
mean over all pairs of an executor of its source and one of its target; it follows from how many of either are
in each worker, host and rack, as sharing a worker implies sharing the host and the rack:

    distance = 3 - sum over the three levels of (sum over groups of source(group) target(group)) / pairs
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from benchmarks.large_clusters.cluster import Cluster, Placed, Topology

FARTHEST = 3


def edge_distances(cluster: Cluster, placed: Iterable[Placed]) -> list[float]:
    """Return the distance of each edge of each topology that has executors placed at both ends."""
    by_topology: dict[str, list[Placed]] = defaultdict(list)
    for each in placed:
        by_topology[each.topology].append(each)
    return [
        distance
        for id_, group in by_topology.items()
        for distance in _distances(cluster, cluster.topologies[id_], group)
    ]


def workers(placed: Iterable[Placed]) -> int:
    """Return the number of workers."""
    return len({(each.topology, each.host, each.port) for each in placed})


def _distances(cluster: Cluster, topology: Topology, placed: Sequence[Placed]) -> list[float]:
    index = {each.name: number for number, each in enumerate(topology.components)}
    component = np.array([index[each.component] for each in placed])
    count = np.bincount(component, minlength=len(index))
    edges = [(a, b) for a, b in topology.edges if count[a] and count[b]]
    if not edges:
        return []
    source, target = np.array(edges).T
    pairs = count[source] * count[target]
    levels: tuple[list[Hashable], ...] = (
        [(each.host, each.port) for each in placed],
        [each.host for each in placed],
        [cluster.hosts[each.host].rack for each in placed],
    )
    distance = np.full(len(edges), float(FARTHEST))
    for groups in levels:
        number = {group: position for position, group in enumerate(dict.fromkeys(groups))}
        in_group = np.zeros((len(index), len(number)))
        np.add.at(in_group, (component, np.array([number[group] for group in groups])), 1.0)
        distance -= np.einsum("eg,eg->e", in_group[source], in_group[target]) / pairs
    return [float(each) for each in distance]
