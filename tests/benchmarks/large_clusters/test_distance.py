"""The distance from counts is the mean over all pairs of executors."""

from __future__ import annotations

import random
from itertools import product
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from benchmarks.large_clusters.cluster import Cluster, Placed
from benchmarks.large_clusters.distance import edge_distances, workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOSTS = ("a1", "a2", "a3", "b1", "b2", "c1")


def apart(one: Placed, other: Placed) -> int:
    if (one.host, one.port) == (other.host, other.port):
        return 0
    if one.host == other.host:
        return 1
    return 2 if one.host[0] == other.host[0] else 3


def by_pairs(placed: Sequence[Placed], edges: Sequence[tuple[int, int]]) -> list[float]:
    def executors(component: int) -> list[Placed]:
        return [each for each in placed if each.component == f"c{component}"]

    return [mean(apart(*pair) for pair in product(executors(a), executors(b))) for a, b in edges]


@pytest.mark.parametrize("seed", range(10))
def test_counts_give_what_pairs_give(seed: int, make: Callable[..., Cluster]) -> None:
    rng = random.Random(seed)
    sizes = [rng.randint(1, 9) for _ in range(5)]
    # a component may subscribe to itself, and to another by two streams
    edges = [(rng.randrange(5), rng.randrange(5)) for _ in range(8)] + [(0, 0), (0, 1), (0, 1)]
    cluster = make([{"executors": size} for size in sizes], edges, hosts=HOSTS)
    placed = [
        Placed("t", task, each.name, rng.choice(HOSTS), rng.randint(1, 2))
        for each in cluster.topologies["t"].components
        for task in each.tasks
    ]
    rng.shuffle(placed)
    assert edge_distances(cluster, placed) == pytest.approx(by_pairs(placed, edges))
    assert workers(placed) == len({(each.host, each.port) for each in placed})


def test_an_edge_without_executors_at_one_end_has_no_distance(make: Callable[..., Cluster]) -> None:
    cluster = make([{"executors": 2}, {}, {}], [(0, 1), (1, 2)])
    placed = [Placed("t", 1, "c0", "a1", 1), Placed("t", 3, "c1", "a2", 1)]
    assert edge_distances(cluster, placed) == [2.0]
    assert edge_distances(cluster, placed[:1]) == []


def test_a_component_without_executors_has_no_edges(make: Callable[..., Cluster]) -> None:
    cluster = make([{}, {"executors": 0}, {}], [(0, 1), (1, 2), (0, 2)])
    assert list(cluster.topologies["t"].edges) == [(0, 2)]
