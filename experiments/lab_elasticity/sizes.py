"""How many executors and hosts a rate needs: what the static turn has from the start. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topologies.sleeping.sleeping_submission import Sleeper

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET_LOAD = 0.8
"""Share of their time for which executors are to be busy, for the static turn and for the policy `sized`."""
TASKS = 120
"""Of each sleeping bolt."""
OTHERS = 3
"""Source, sink and acker, which take room, too."""
SERVICE_MS = {"parse": 240.0, "report": 300.0}
"""For so long an item occupies an executor of each sleeping bolt, ms: many executors for few items a
second, as what moves items needs the machine's processors."""


def executors_for(rate: float, service_ms: float, tasks: int = TASKS) -> int:
    """Return the least number of executors that are not busier than they are to be.

    The busiest executor counts: it has the share of a whole number of tasks.

    Args:
        rate: Items/s.
        service_ms: Of an item, ms.
        tasks: Tasks of the component; items come to all alike.
    """
    busy_of_task = rate * service_ms / 1000.0 / tasks
    for count in range(1, tasks):
        if math.ceil(tasks / count) * busy_of_task <= TARGET_LOAD:
            return count
    return tasks


def sleepers_for(rate: float) -> tuple[Sleeper, ...]:
    """Return the sleeping bolts with what a rate needs, items/s."""
    return tuple(Sleeper(name, ms, executors_for(rate, ms)) for name, ms in SERVICE_MS.items())


def hosts_for(sleepers: Iterable[Sleeper], executors_per_host: int) -> int:
    """Return the hosts on which bolts have room, with what else the topology has."""
    return math.ceil((sum(each.executors for each in sleepers) + OTHERS) / executors_per_host)
