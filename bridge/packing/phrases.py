"""What status lines say of topologies that were placed by counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.packing.grounds import Grounds
    from bridge.wire.messages import PlanRequest
    from scheduler.packing.fleet import Ledger
    from scheduler.packing.job import Worker

_SHOWN = 3


def spread(grounds: Grounds, workers: Sequence[Worker]) -> str:
    """Say over how many workers, hosts and so on executors are spread: `3 workers, 2 hosts, 1 rack`.

    Args:
        grounds: The supervisors.
        workers: The new workers.
    """
    nodes = np.array([worker.node for worker in workers])
    levels = grounds.fleet.levels
    counts = [("worker", len(workers)), *((each.name, len(np.unique(each.group[nodes]))) for each in levels)]
    return ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts)


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


def above_declared(found: Sequence[str]) -> str:
    """Say that hosts carry more than is declared.

    Args:
        found: One phrase per host and resource.
    """
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f", above what is declared as it fits no other way ({', '.join(found[:_SHOWN])}{more})"
