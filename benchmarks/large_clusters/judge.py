"""Figures of one assignment and one cluster, from what the Java side wrote."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.large_clusters.bound import least_distance
from benchmarks.large_clusters.check import check
from benchmarks.large_clusters.distance import edge_distances, workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.large_clusters.cluster import Cluster, Placed

_EXAMPLES = 3


def judged(cluster: Cluster, placed: Sequence[Placed]) -> dict[str, Any]:
    """Return what an assignment is worth, and what is wrong with it."""
    checked = check(cluster, placed)
    distances = edge_distances(cluster, checked.sound)
    examples: dict[str, list[str]] = {}
    for fault in checked.faults:
        examples.setdefault(fault.rule, []).append(fault.text)
    return {
        "distance": sum(distances) / len(distances) if distances else None,
        "edges_with_both_ends": len(distances),
        "workers": workers(checked.sound),
        "faults": dict(Counter(fault.rule for fault in checked.faults)),
        "examples": {rule: texts[:_EXAMPLES] for rule, texts in examples.items()},
    }


def described(cluster: Cluster, *, bounded: bool) -> dict[str, Any]:
    """Return a cluster's size and, if wanted, the distance that no assignment within its limits beats."""
    topologies = cluster.topologies.values()
    return {
        "hosts": len(cluster.hosts),
        "racks": len({each.rack for each in cluster.hosts.values()}),
        "slots": sum(len(each.ports) for each in cluster.hosts.values()),
        "topologies": len(topologies),
        "components": sum(len(each.components) for each in topologies),
        "edges": sum(len(each.edges) for each in topologies),
        "executors": sum(each.executors for each in topologies),
        "least_distance": least_distance(cluster) if bounded else None,
    }
