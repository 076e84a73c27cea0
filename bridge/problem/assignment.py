"""Where the executors of a topology run, and what a change of that restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.network.cluster import Slot
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import Topology

Assignment = tuple[Slot | None, ...]
"""Per executor the slot it runs in, None if it is unassigned."""


def assignment_of(topology: Topology) -> Assignment:
    """Where the executors of a topology run by the request."""
    return tuple(
        None if supervisor == UNASSIGNED else (supervisor, port)
        for supervisor, port in zip(topology.executor_supervisor, topology.executor_port, strict=True)
    )


def left_slots(topology: Topology) -> frozenset[Slot]:
    """Slots of workers that restart in any case: executors ran there that are none of the topology's now."""
    return frozenset(zip(topology.left_supervisor or (), topology.left_port or (), strict=True))


def executors_by_slot(assignment: Sequence[Slot | None]) -> dict[Slot, set[int]]:
    """Return the executors of each slot that an assignment uses."""
    by_slot: dict[Slot, set[int]] = {}
    for executor, slot in enumerate(assignment):
        if slot is not None:
            by_slot.setdefault(slot, set()).add(executor)
    return by_slot


def started_workers(
    before: Sequence[Slot | None], after: Sequence[Slot | None]
) -> list[tuple[Slot, set[int]]]:
    """Return slot and executors of each worker that did not run with them before, by slot."""
    ran = executors_by_slot(before)
    workers = sorted(executors_by_slot(after).items())
    return [(slot, executors) for slot, executors in workers if ran.get(slot) != executors]


def restarted_workers(before: Sequence[Slot | None], after: Sequence[Slot | None]) -> list[set[int]]:
    """Return the executors of each worker that has another set of them afterwards, or none."""
    now = executors_by_slot(after)
    return [executors for slot, executors in executors_by_slot(before).items() if now.get(slot) != executors]
