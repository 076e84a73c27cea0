"""Fleets and jobs of any size, and a check of packings that shares nothing with the planner."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.fleet import Fleet, Level
from scheduler.packing.job import Job, Worker, WorkerRules

if TYPE_CHECKING:
    from collections.abc import Sequence


_RULES = WorkerRules(heap_mb=512.0)


def fleet(racks: int = 2, per_rack: int = 3, cpu: float = 400.0, memory: float = 4096.0) -> Fleet:
    """Racks of equal hosts with CPU and memory."""
    count = racks * per_rack
    capacity = np.tile([cpu, memory], (count, 1)).astype(float)
    hosts, rack = np.arange(count), np.arange(count) // per_rack
    return Fleet(capacity, 1.0, (Level("host", hosts), Level("rack", rack)))


def job(
    counts: Sequence[int],
    edges: Sequence[tuple[int, int]] = (),
    rules: WorkerRules = _RULES,
    **changes: object,
) -> Job:
    """Executors that need 10 % of a core and 128 MB of heap each, unless it is said otherwise."""
    count = len(counts)
    fields: dict[str, object] = {
        "demand": np.tile([10.0, 128.0], (count, 1)),
        "heap_mb": np.full(count, 128.0),
        **changes,
    }
    return Job(
        count=np.array(counts),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2),
        weight=np.ones(len(edges)),
        rules=rules,
        **fields,  # type: ignore[arg-type]  # tests name real fields
    )


def random_jobs(seed: int, most: int = 6) -> list[Job]:
    """Jobs of all kinds, from one executor to a few dozen."""
    rng = random.Random(seed)
    jobs = []
    for _ in range(rng.randint(1, most)):
        n_components = rng.randint(1, 6)
        pairs = [(a, b) for a in range(n_components) for b in range(a)]
        jobs.append(
            job(
                [rng.choice((0, 1, 2, 5, 12)) for _ in range(n_components)],
                rng.sample(pairs, rng.randint(0, len(pairs))),
                WorkerRules(
                    heap_mb=rng.choice((256.0, 768.0, 4096.0)),
                    executors=rng.choice((1, 4, 2**31)),
                    one_component=rng.random() < 0.2,
                ),
                demand=np.array(
                    [[rng.choice((0.0, 10.0, 90.0)), rng.choice((64.0, 300.0))] for _ in range(n_components)]
                ),
                heap_mb=np.array([rng.choice((0.0, 64.0, 300.0)) for _ in range(n_components)]),
            )
        )
    return jobs


def faults(
    free: np.ndarray, slots: np.ndarray, jobs: Sequence[Job], packed: Sequence[Sequence[Worker] | None]
) -> list[str]:
    """What is wrong with a packing; jobs without workers are not looked at."""
    found = []
    used, taken = np.zeros_like(free), np.zeros_like(slots)
    for index, (each, workers) in enumerate(zip(jobs, packed, strict=True)):
        if workers is None:
            continue
        for worker in workers:
            used[worker.node] += worker.count @ each.demand
            taken[worker.node] += 1
            found += [f"job {index}: {fault}" for fault in _worker_faults(each, worker)]
        placed = sum((worker.count for worker in workers), np.zeros_like(each.count))
        if (placed != each.count).any():
            found.append(f"job {index}: {placed} of {each.count}")
    if (used > free + 1e-6).any():
        found.append("a node carries more than it offers")
    if (taken > slots).any():
        found.append("a node has more workers than slots")
    return found


def _worker_faults(each: Job, worker: Worker) -> list[str]:
    rules, held = each.rules, np.flatnonzero(worker.count).tolist()
    executors = int(worker.count.sum())
    broken = {
        "heap": executors > 1 and worker.count @ each.heap_mb > rules.heap_mb * (1 + 1e-6),
        "number of executors": not 1 <= executors <= rules.executors,
        "several components": rules.one_component and len(held) > 1,
        "components that must be apart": any((a, b) in rules.apart for a in held for b in held),
        "a node that is not permitted": each.permitted is not None
        and not each.permitted[held, worker.node].all(),
    }
    return [fault for fault, found in broken.items() if found]


def brute_force_cost(nodes: Fleet, each: Job, workers: Sequence[Worker]) -> float:
    """The cost by looking at every pair of executors of every edge."""
    executors = [
        (component, number, worker.node)
        for number, worker in enumerate(workers)
        for component, count in enumerate(worker.count.tolist())
        for _ in range(count)
    ]
    total = 0.0
    for (a, b), weight in zip(each.edges.tolist(), each.weight.tolist(), strict=True):
        pairs = [(x, y) for x in executors for y in executors if (x[0], y[0]) == (a, b)]
        if pairs:
            total += weight * sum(_distance(nodes, x, y) for x, y in pairs) / len(pairs)
    return total


def _distance(nodes: Fleet, one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    distance = nodes.worker_step * (one[1] != other[1])
    for level in nodes.levels:
        a, b = int(level.group[one[2]]), int(level.group[other[2]])
        distance += level.step * (a != b) if level.far is None else float(level.far[a, b])
    return distance
