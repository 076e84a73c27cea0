"""The bound lies below every assignment within the limits, and is not trivial."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.large_clusters.bound import least_distance, topology_bound
from benchmarks.large_clusters.check import check
from benchmarks.large_clusters.cluster import Cluster, Placed
from benchmarks.large_clusters.distance import edge_distances

if TYPE_CHECKING:
    from collections.abc import Callable


def best(cluster: Cluster) -> float | None:
    """Return the least mean distance of all assignments within the limits; None if there is none."""
    executors = [(task, each.name) for each in cluster.topologies["t"].components for task in each.tasks]
    slots = [(name, port) for name, host in cluster.hosts.items() for port in host.ports]
    least = None
    for chosen in product(slots, repeat=len(executors)):
        placed = [Placed("t", *executor, *slot) for executor, slot in zip(executors, chosen, strict=True)]
        if check(cluster, placed).faults:
            continue
        distances = edge_distances(cluster, placed)
        mean = sum(distances) / len(distances)
        least = mean if least is None else min(least, mean)
    return least


@pytest.mark.parametrize("seed", range(12))
def test_no_assignment_within_the_limits_is_below_the_bound(seed: int, make: Callable[..., Cluster]) -> None:
    rng = random.Random(seed)
    components: list[dict[str, Any]] = [
        {
            "executors": executors,
            "cpu": rng.choice([10.0, 30.0, 50.0]),
            "on_heap": rng.choice([100.0, 300.0, 400.0]),
            "generic": {"gpu": rng.choice([0.0, 1.0])},
        }
        for executors in rng.choice([(1, 2, 1), (2, 2), (1, 1, 1, 1)])
    ]
    last = len(components) - 1
    edges = [(i, i + 1) for i in range(last)] + [(0, last)] * rng.randint(0, 1)
    cluster = make(components, edges, max_heap=500.0, memory=rng.choice([500.0, 800.0]), generic={"gpu": 2.0})
    least = best(cluster)
    if least is not None:
        assert least_distance(cluster) <= least + 1e-9


def test_what_fits_one_worker_has_bound_zero(make: Callable[..., Cluster]) -> None:
    cluster = make([{"on_heap": 500.0}, {"executors": 5, "on_heap": 100.0}], [(0, 1)])
    assert least_distance(cluster) == 0.0


@pytest.mark.parametrize("length", [8, 12])
def test_a_chain_of_which_four_fit_a_worker_leaves_every_fourth_edge(
    length: int, make: Callable[..., Cluster]
) -> None:
    # room for all on one host: only sharing a worker is bounded; a quarter of a chain's edges cross, but one
    chain = [{"on_heap": 250.0}] * length
    cluster = make(chain, [(i, i + 1) for i in range(length - 1)], slots=length, memory=1e6)
    crossing = topology_bound(cluster, cluster.topologies["t"])
    assert crossing == pytest.approx(length / 4 - 1, abs=0.01)


@pytest.mark.parametrize(
    ("limits", "bound"),
    [
        # a worker holds one executor, a host both
        ({"max_heap": 500.0}, 1.0),
        # a host holds one executor, by one resource each
        ({"max_heap": 500.0, "slots": 1}, 2.0),
        ({"cpu": 15.0}, 2.0),
        ({"memory": 500.0}, 2.0),
        ({"generic": {"gpu": 1.0}}, 2.0),
        # nothing but the rule is in the way
        ({"conf": {"topology.ras.one.component.per.worker": True}}, 1.0),
        # a rack is one host
        ({"memory": 500.0, "hosts": ("a1", "b1")}, 3.0),
    ],
)
def test_each_limit_counts_at_its_level(
    limits: dict[str, Any], bound: float, make: Callable[..., Cluster]
) -> None:
    demand = {"cpu": 10.0, "on_heap": 300.0, "generic": {"gpu": 1.0}}
    room = {"cpu": 100.0, "memory": 2000.0, "generic": {"gpu": 9.0}} | limits
    assert least_distance(make([demand, demand], [(0, 1)], **room)) == pytest.approx(bound, abs=1e-3)


def test_a_capacity_counts_in_whole_executors(make: Callable[..., Cluster]) -> None:
    # three of four executors would fit a worker by three quarters of an executor: in truth two do
    halves = [{"executors": 2, "on_heap": 300.0}] * 2
    cluster = make(halves, [(0, 1)], max_heap=899.0, slots=4, memory=1e6)
    assert topology_bound(cluster, cluster.topologies["t"]) == pytest.approx(0.5, abs=1e-3)


def test_a_topology_without_edges_has_no_bound(make: Callable[..., Cluster]) -> None:
    assert least_distance(make([{"on_heap": 300.0}] * 3, [])) == 0.0


def test_edges_of_all_topologies_count_alike(make: Callable[..., Cluster]) -> None:
    demand = {"on_heap": 300.0}
    apart = make([demand, demand], [(0, 1)], max_heap=500.0).topologies["t"]
    together = make([demand] * 3, [(0, 1), (1, 2), (0, 2)]).topologies["t"]
    hosts = make([demand], []).hosts
    cluster = Cluster(hosts, {"t": apart, "u": together})
    assert least_distance(cluster) == pytest.approx(1.0 / 4, abs=1e-3)
