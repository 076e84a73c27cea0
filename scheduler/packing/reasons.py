"""Why a job finds no room: the first limit that it meets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job

_ROUNDING = 1e-9


def why_no_room(
    fleet: Fleet, ledger: Ledger, job: Job, resources: Sequence[str], components: Sequence[str]
) -> str:
    """Say which limit keeps a job from being placed.

    Args:
        fleet: The nodes.
        ledger: What is left of them.
        job: The job.
        resources: Names of the resources.
        components: Names of the job's components.

    Returns:
        One phrase: too few free worker slots, which nothing stretches; a limit per node that leaves too few
        places; an executor that is larger than what any node has left; more of a resource than is left in
        all; else that what is left lies scattered.
    """
    open_nodes = ledger.slots > 0
    if job.permitted is not None:
        open_nodes = open_nodes & job.permitted[job.count > 0].any(axis=0)
    if not open_nodes.any():
        return "no permitted host has a free worker slot"
    return (
        _too_few_slots(job, int(ledger.slots.sum()), components)
        or _too_few_places(job, open_nodes, components)
        or _too_little(fleet.capacity[open_nodes], np.maximum(ledger.free[open_nodes], 0.0), job, resources)
        or "what is left of the hosts lies too scattered for it"
    )


def _too_little(capacity: FloatArray, free: FloatArray, job: Job, resources: Sequence[str]) -> str:
    """Name a resource of which there is too little for an executor or for all; empty if there is none."""
    each, needed = np.array(job.demand), job.count @ job.demand
    if job.shared is not None:
        each[:, job.shared.resource] += job.shared.alone
        needed[job.shared.resource] += job.shared.needed(job.count)
    largest = each[job.count > 0].max(axis=0)
    for name, most, offered in zip(resources, largest, capacity.max(axis=0), strict=True):
        if most > offered * (1 + _ROUNDING):
            return f"an executor needs {most:g} of {name}, the largest host has {offered:g}"
    for name, most, left in zip(resources, largest, free.max(axis=0), strict=True):
        if most > left * (1 + _ROUNDING):
            return f"an executor needs {most:g} of {name}, no host has more than {left:g} left"
    for name, total, left in zip(resources, needed, free.sum(axis=0), strict=True):
        if total > left * (1 + _ROUNDING):
            return f"it needs {total:g} of {name}, {left:g} are left"
    return ""


def _too_few_slots(job: Job, slots: int, components: Sequence[str]) -> str:
    """Say why there are fewer slots than workers are needed; empty if that is not known."""
    workers = math.ceil(float(job.count @ job.worker_share) - _ROUNDING)
    if workers > slots:
        return f"it needs {workers} workers, {slots} slots are free"
    apart = _apart_from_each_other(job)
    if len(apart) <= slots:
        return ""
    names = ", ".join(components[component] for component in apart)
    free = f"{slots} slot{'s are' if slots > 1 else ' is'} free"
    return f"no worker may hold two of {names} (incompatibleComponents), {free}"


def _too_few_places(job: Job, open_nodes: BoolArray, components: Sequence[str]) -> str:
    """Name a component whose limit per node leaves places for too few executors; empty if there is none."""
    if job.per_node is None:
        return ""
    for component in np.flatnonzero(job.count).tolist():
        nodes = open_nodes if job.permitted is None else open_nodes & job.permitted[component]
        most = int(job.per_node[component])
        places = np.where(nodes, most, 0)
        for worker in job.running:
            places[worker.node] -= worker.count[component]
        left = int(np.maximum(places, 0).sum())
        if left < job.count[component]:
            return (
                f"a node may run {most} executor{'s' if most > 1 else ''} of {components[component]} "
                f"(maxNodeCoLocationCnt): {left} more have a place, {job.count[component]} need one"
            )
    return ""


def _apart_from_each_other(job: Job) -> list[int]:
    """Components to place of which no two may share a worker, as many as are found one by one."""
    found: list[int] = []
    for component in np.flatnonzero(job.count).tolist():
        if all((component, other) in job.rules.apart for other in found):
            found.append(component)
    return found if len(found) > 1 else []
