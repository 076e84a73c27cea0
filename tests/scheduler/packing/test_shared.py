"""Memory that components share is there once in a worker or on a node, and never exceeded."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.packing.fleet import Ledger
from scheduler.packing.job import Worker, WorkerRules
from scheduler.packing.pack import Packer, Packing
from scheduler.packing.reasons import why_no_room
from scheduler.packing.shared import Shared
from tests.scheduler.packing.made_fleets import faults, fleet, job, random_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.packing.job import Job

MEMORY = 1
HARD = np.zeros(2, dtype=np.bool_)


def _shared(users: Sequence[Sequence[int]], heap=0.0, worker=0.0, node=0.0) -> Shared:
    """One piece per row of users, all of the same amounts."""
    table = np.array(users, dtype=np.bool_)
    amounts = [np.full(len(table), each) for each in (heap, heap + worker, node)]
    return Shared(table, *amounts, resource=MEMORY)


def _memory_of(each: Job, workers: Sequence[Worker], n_nodes: int) -> list[float]:
    """Memory that a job's workers take on each node, piece by piece."""
    total = [0.0] * n_nodes
    for worker in workers:
        total[worker.node] += float(worker.count @ each.demand[:, MEMORY])
    for piece in range(len(each.shared.users) if each.shared else 0):
        holders = [worker for worker in workers if (worker.count > 0)[each.shared.users[piece]].any()]
        for worker in holders:
            total[worker.node] += float(each.shared.worker_mb[piece])
        for node in {worker.node for worker in holders}:
            total[node] += float(each.shared.node_mb[piece])
    return total


def _pack(nodes, jobs, soft=HARD, slots=4) -> Packing:
    return Packer(nodes, jobs, soft, lambda: False).pack(nodes.capacity, np.full(nodes.n_nodes, slots))


@given(st.integers(0, 10_000))
def test_shared_memory_is_never_exceeded_and_given_back(seed: int) -> None:
    rng = random.Random(seed)
    nodes = fleet(memory=1500.0)
    jobs = []
    for each in random_jobs(seed, 3):
        users = [[rng.random() < 0.5 for _ in range(each.n_components)] for _ in range(rng.randint(1, 3))]
        amounts = [rng.choice((0.0, 80.0, 500.0)) for _ in range(3)]
        jobs.append(replace(each, shared=_shared(users, *amounts)))
    packing = _pack(nodes, jobs)
    assert faults(nodes.capacity, np.full(6, 4), jobs, packing.workers) == []
    taken = np.sum(
        [_memory_of(each, workers or (), 6) for each, workers in zip(jobs, packing.workers, strict=True)],
        axis=0,
    )
    assert (taken <= 1500.0 + 1e-6).all()
    assert packing.ledger.free[:, MEMORY] == pytest.approx(1500.0 - taken)
    for each, workers in zip(jobs, packing.workers, strict=True):
        for worker in workers or ():
            used = (each.shared.users & (worker.count > 0)).any(axis=1)
            heap = worker.count @ each.heap_mb + used @ each.shared.heap_mb
            assert worker.count.sum() == 1 or heap <= each.rules.heap_mb * (1 + 1e-6)


@given(st.integers(0, 10_000))
def test_usage_is_what_each_piece_takes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    component, node, port = (rng.integers(0, most, count) for most in (3, 4, 2))
    shared = _shared(rng.random((2, 3)) < 0.5, 10.0, 5.0, 100.0)
    workers = [
        Worker(where, np.bincount(component[(node == where) & (port == number)], minlength=3))
        for where in range(4)
        for number in range(2)
    ]
    plain = job([0, 0, 0], demand=np.zeros((3, 2)), shared=shared)
    assert shared.usage(component, node, port, 4).tolist() == _memory_of(plain, workers, 4)


def test_what_runs_on_a_node_has_its_shared_memory_there() -> None:
    """400 MB are left on each node: enough for an executor where the memory is, too little elsewhere."""
    nodes = fleet(racks=1, memory=400.0)
    running = (Worker(2, np.array([1])),)
    each = job([2], running=running, shared=_shared([[True]], node=300.0))
    (workers,) = _pack(nodes, [each]).workers
    assert [(worker.node, worker.count.tolist()) for worker in workers] == [(2, [2])]


def test_shared_heap_is_part_of_a_workers_heap() -> None:
    """Four executors of 128 MB fill 512 MB; with 100 MB that they share there is room for three."""
    rules = WorkerRules(heap_mb=512.0)
    assert len(_pack(fleet(), [job([4], rules=rules)]).workers[0]) == 1
    (workers,) = _pack(fleet(), [job([4], rules=rules, shared=_shared([[True]], heap=100.0))]).workers
    assert sorted(int(worker.count.sum()) for worker in workers) == [1, 3]


@pytest.mark.parametrize(
    ("each", "phrase"),
    [
        (
            job([1], shared=_shared([[True]], node=900.0)),
            "an executor needs 1028 of memory, the largest host has 1000",
        ),
        (
            job([2, 2], shared=_shared([[True, False], [False, True]], worker=500.0)),
            "it needs 1512 of memory, 1000 are left",
        ),
    ],
)
def test_the_reason_counts_shared_memory(each: Job, phrase: str) -> None:
    nodes = fleet(racks=1, per_rack=1, memory=1000.0)
    ledger = Ledger(nodes.capacity, np.array([4]))
    assert _pack(nodes, [each]).refused == {0}
    assert why_no_room(nodes, ledger, each, ("CPU", "memory"), ("c0", "c1")) == phrase
