"""How close the executors of a job are: in one worker, on one host, in one rack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.packing.fleet import Fleet
    from scheduler.packing.job import Job, Worker


class Closeness:
    """What being together is worth between the workers of a job.

    Args:
        fleet: The nodes and their levels.
        node: (n_workers,) node of each worker.

    Attributes:
        between: (n_workers, n_workers) what it is worth, per unit of affinity, that one executor of a pair is
            in one worker and the other in another; largest on the diagonal.
    """

    def __init__(self, fleet: Fleet, node: IntArray) -> None:
        between = np.eye(len(node)) * fleet.worker_step
        for level in fleet.levels:
            group = level.group[node]
            if level.far is None:
                between += level.step * (group[:, None] == group[None, :])
            else:
                between -= level.far[np.ix_(group, group)]
        self.between = between


def cost(fleet: Fleet, job: Job, workers: Sequence[Worker]) -> float:
    """Return what the distances between a job's executors cost: over all edges, weight times mean distance.

    Linear in the workers, whatever the number of executors.

    Args:
        fleet: The nodes and their levels.
        job: The job.
        workers: All of its workers, running and new.
    """
    if not len(job.edges) or not workers:
        return 0.0
    node = np.array([worker.node for worker in workers])
    share = np.stack([worker.count for worker in workers], axis=1) / np.maximum(job.whole, 1)[:, None]
    one, other = job.edges.T
    placed = share.sum(axis=1)
    total = np.zeros(len(job.edges))
    for step, far, group in _steps(fleet, node):
        n_groups = int(group.max()) + 1
        by_group = np.zeros((job.n_components, n_groups))
        np.add.at(by_group.T, group, share.T)
        if far is None:
            apart = placed[one] * placed[other] - (by_group[one] * by_group[other]).sum(axis=1)
            total += step * apart
        else:
            total += (by_group[one] @ far[:n_groups, :n_groups] * by_group[other]).sum(axis=1)
    return float(total @ job.weight)


def _steps(fleet: Fleet, node: IntArray) -> list[tuple[float, FloatArray | None, IntArray]]:
    workers = np.arange(len(node))
    levels = [(level.step, level.far, level.group[node]) for level in fleet.levels]
    compact = [
        (step, far, group if far is not None else np.unique(group, return_inverse=True)[1])
        for step, far, group in levels
    ]
    return [(fleet.worker_step, None, workers), *compact]
