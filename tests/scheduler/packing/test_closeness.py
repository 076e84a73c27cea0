"""What distances cost, against every pair of executors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.packing.closeness import cost
from scheduler.packing.fleet import Level
from scheduler.packing.job import Worker
from tests.scheduler.packing.made_fleets import brute_force_cost, fleet, job


def _spread(seed: int, counts: list[int], n_nodes: int, n_workers: int) -> list[Worker]:
    rng = np.random.default_rng(seed)
    table = np.zeros((n_workers, len(counts)), dtype=np.int64)
    for component, count in enumerate(counts):
        np.add.at(table[:, component], rng.integers(n_workers, size=count), 1)
    return [Worker(int(rng.integers(n_nodes)), row) for row in table]


@pytest.mark.parametrize("seed", range(5))
def test_the_cost_is_that_of_all_pairs(seed: int) -> None:
    counts = [3, 4, 2]
    one = job(counts, [(0, 1), (1, 2), (0, 1)])
    nodes = fleet()
    workers = _spread(seed, counts, nodes.n_nodes, 5)
    assert cost(nodes, one, workers) == pytest.approx(brute_force_cost(nodes, one, workers))


def test_sites_are_as_far_apart_as_their_table_says() -> None:
    counts = [3, 2]
    one = job(counts, [(0, 1)])
    sites = Level(
        "site", np.arange(6) // 2, far=np.array([[0.0, 5.0, 9.0], [5.0, 0.0, 2.0], [9.0, 2.0, 0.0]])
    )
    nodes = replace(fleet(), levels=(fleet().levels[0], sites))
    workers = _spread(3, counts, nodes.n_nodes, 4)
    assert cost(nodes, one, workers) == pytest.approx(brute_force_cost(nodes, one, workers))


def test_running_workers_count_for_the_whole_of_a_component() -> None:
    """Half of the pairs are with the executor that runs in the same rack, half with the new one beside."""
    running = (Worker(1, np.array([1, 0])),)
    one = job([1, 1], [(0, 1)], running=running)
    workers = [*running, Worker(0, np.array([1, 1]))]
    assert cost(fleet(), one, workers) == pytest.approx((0 + 2) / 2)


def test_nothing_costs_nothing() -> None:
    assert cost(fleet(), job([2]), [Worker(0, np.array([2]))]) == 0.0
    assert cost(fleet(), job([2, 2], [(0, 1)]), []) == 0.0
