"""What status lines say of topologies that were placed by counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.packing.grounds import Grounds
    from bridge.wire.messages import PlanRequest
    from scheduler.packing.fleet import Ledger
    from scheduler.packing.job import Job, Worker

_SHOWN = 3
_ROUNDING = 1e-9


def spread(grounds: Grounds, workers: Sequence[Worker]) -> str:
    """Say over how many workers, hosts and so on executors are spread: `3 workers, 2 hosts, 1 rack`.

    Args:
        grounds: The supervisors.
        workers: The new workers, and what joins running ones.
    """
    nodes = np.array([worker.node for worker in workers])
    levels = grounds.fleet.levels
    counts = [("worker", len(workers)), *((each.name, len(np.unique(each.group[nodes]))) for each in levels)]
    return ", ".join(counted(count, name) for name, count in counts)


def overloads(request: PlanRequest, grounds: Grounds, ledger: Ledger, workers: Sequence[Worker]) -> str:
    """Name hosts that carry more than they offer.

    Args:
        request: The round.
        grounds: The supervisors.
        ledger: What is left of them.
        workers: Workers on those that are asked for.
    """
    capacity = grounds.fleet.capacity
    nodes = sorted({worker.node for worker in workers})
    found = [
        f"{request.supervisors[node].host} at "
        f"{1 - ledger.free[node, column] / capacity[node, column]:.0%} of its {name}"
        for node in nodes
        for column, name in enumerate(grounds.resources)
        if ledger.free[node, column] < 0 < capacity[node, column]
    ]
    return above_declared(found)


def heap_overload(job: Job, workers: Sequence[Worker]) -> str:
    """Say how much of their heap workers need, if that is more than they have; empty if it is not.

    Args:
        job: What was to be placed, by the rules that it asked for.
        workers: Its new workers, and what joins running ones.
    """
    most = 0.0
    for worker in workers:
        there = worker.count if worker.joins is None else worker.count + job.running[worker.joins].count
        # An executor that needs more alone has a worker of its own.
        if there.sum() > 1:
            most = max(most, float(job.heap_mb @ there) / job.rules.heap_mb)
    if most <= 1.0 + _ROUNDING:
        return ""
    return f", workers at up to {most:.0%} of their heap as there are too few slots"


def above_declared(found: Sequence[str]) -> str:
    """Say that hosts carry more than is declared.

    Args:
        found: One phrase per host and resource.
    """
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f", above what is declared as it fits no other way ({', '.join(found[:_SHOWN])}{more})"
