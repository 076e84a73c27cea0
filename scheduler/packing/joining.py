"""Executors join running workers of their job that restart in any case, and others if no slot is left.

A worker whose executors change restarts with all of them, so as few executors as possible are to restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.job import Worker

if TYPE_CHECKING:
    from collections.abc import Collection

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.packing.fleet import Ledger
    from scheduler.packing.job import Job
    from scheduler.packing.progress import Progress

_ROUNDING = 1e-9


def join(ledger: Ledger, job: Job, progress: Progress, among: Collection[int]) -> None:
    """Let executors join workers, small ones first.

    Args:
        ledger: What is left of the nodes; what executors take is taken from it.
        job: The job.
        progress: What has a place; executors that fit nowhere stay without one.
        among: Positions of the running workers that they may join.
    """
    by_size = sorted(among, key=lambda each: (int(job.running[each].count.sum()), each))
    for running in by_size:
        if not progress.left:
            return
        count = _joining(ledger, job, progress, running)
        if count.any():
            progress.add(Worker(job.running[running].node, count, joins=running))


def _joining(ledger: Ledger, job: Job, progress: Progress, running: int) -> IntArray:
    """(n_components,) as many executors as a running worker and its node take."""
    worker = job.running[running]
    joining = np.zeros_like(worker.count)
    for component, most in enumerate(progress.allowed(worker.node).tolist()):
        for _ in range(most):
            held = worker.count + joining
            joining[component] += 1
            amounts = progress.amounts(Worker(worker.node, joining, joins=running))
            if not (_takes(job, held, component) and _fits(amounts, ledger.free[worker.node])):
                joining[component] -= 1
                break
    return joining


def _takes(job: Job, held: IntArray, component: int) -> bool:
    """Whether a worker that holds executors may hold another one."""
    rules = job.rules
    others = np.flatnonzero(held).tolist()
    heap = job.heap_mb @ held + job.heap_mb[component]
    if job.shared is not None:
        used = {piece for each in (*others, component) for piece in job.shared.of_component[each]}
        heap += sum(float(job.shared.heap_mb[piece]) for piece in used)
    return (
        bool(heap <= rules.heap_mb * (1 + _ROUNDING))
        and int(held.sum()) < rules.executors
        and rules.allow(component, others)
    )


def _fits(amounts: FloatArray, free: FloatArray) -> bool:
    return bool(((amounts <= 0) | (amounts <= free + _ROUNDING * np.maximum(amounts, 1.0))).all())
