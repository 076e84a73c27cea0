"""Why a job finds no room: the first limit that it meets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job

_ROUNDING = 1e-9


def why_no_room(fleet: Fleet, ledger: Ledger, job: Job, resources: Sequence[str]) -> str:
    """Say which limit keeps a job from being placed.

    Args:
        fleet: The nodes.
        ledger: What is left of them.
        job: The job.
        resources: Names of the resources.

    Returns:
        One phrase: no free worker slot; an executor that is larger than what any node has left; more of a
        resource than is left in all; else that what is left lies scattered.
    """
    open_nodes = ledger.slots > 0
    if job.permitted is not None:
        open_nodes = open_nodes & job.permitted[job.count > 0].any(axis=0)
    if not open_nodes.any():
        return "no permitted host has a free worker slot"
    free = np.maximum(ledger.free[open_nodes], 0.0)
    largest = job.demand[job.count > 0].max(axis=0)
    needed = job.count @ job.demand
    for name, most, offered in zip(resources, largest, fleet.capacity[open_nodes].max(axis=0), strict=True):
        if most > offered * (1 + _ROUNDING):
            return f"an executor needs {most:g} of {name}, the largest host has {offered:g}"
    for name, most, left in zip(resources, largest, free.max(axis=0), strict=True):
        if most > left * (1 + _ROUNDING):
            return f"an executor needs {most:g} of {name}, no host has more than {left:g} left"
    for name, total, left in zip(resources, needed, free.sum(axis=0), strict=True):
        if total > left * (1 + _ROUNDING):
            return f"it needs {total:g} of {name}, {left:g} are left"
    workers, slots = math.ceil(float(job.count @ job.worker_share) - _ROUNDING), int(ledger.slots.sum())
    if workers > slots:
        return f"it needs {workers} workers, {slots} slots are free"
    return "what is left of the hosts lies too scattered for it"
