"""How many executors and hosts a rate needs: what the static turn has from the start. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.lab_elasticity.workloads.workload import Scaled, Workload

TARGET_LOAD = 0.8
"""Share of their time for which executors are to be busy in the static turn."""


def executors_for(rate: float, scaled: Scaled) -> int:
    """Return the least number of executors of a component that are not busier than they are to be.

    The busiest executor counts: it has the share of a whole number of tasks.

    Args:
        rate: Items/s.
        scaled: The component.
    """
    busy_of_task = rate * scaled.service_ms / 1000.0 / scaled.tasks
    for count in range(1, scaled.tasks):
        if math.ceil(scaled.tasks / count) * busy_of_task <= TARGET_LOAD:
            return count
    return scaled.tasks


def sizes_for(workload: Workload, rate: float) -> dict[str, int]:
    """Return the executors that a rate needs, items/s, by component that is scaled."""
    return {each.name: executors_for(rate, each) for each in workload.scaled}


def hosts_for(workload: Workload, sizes: Mapping[str, int], executors_per_host: int) -> int:
    """Return the hosts on which so many executors have room, with what else the topology has."""
    return math.ceil((sum(sizes.values()) + workload.executors_beside) / executors_per_host)
