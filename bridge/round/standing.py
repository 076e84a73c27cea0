"""A topology that stands still: it holds the slots that it has, and asks for nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.wire.messages import Topology

_FROZEN = '{"topology.stormplace.frozen": true}'


def still(topology: Topology) -> Topology:
    """Return a topology that does not move, and asks for nothing: nor for what it lacks."""
    if UNASSIGNED in topology.executor_supervisor:
        return standing(topology, assignment_of(topology))
    return replace(topology, settings_json=_FROZEN)


def standing(topology: Topology, slots: Sequence[Slot | None]) -> Topology:
    """Return a topology that holds what has a slot, and asks for nothing.

    Args:
        topology: The topology.
        slots: Slot of each of its executors; those without one are left out.
    """
    held = [(index, slot) for index, slot in enumerate(slots) if slot is not None]
    kept = [index for index, _ in held]
    return replace(
        topology,
        settings_json=_FROZEN,
        executor_first_task=tuple(topology.executor_first_task[index] for index in kept),
        executor_last_task=tuple(topology.executor_last_task[index] for index in kept),
        executor_component=tuple(topology.executor_component[index] for index in kept),
        executor_cpu_percent=tuple(topology.executor_cpu_percent[index] for index in kept),
        executor_memory_mb=tuple(topology.executor_memory_mb[index] for index in kept),
        executor_supervisor=tuple(slot[0] for _, slot in held),
        executor_port=tuple(slot[1] for _, slot in held),
        last_supervisor=None,
        last_port=None,
        left_supervisor=None,
        left_port=None,
    )
