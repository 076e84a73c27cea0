"""A placement on hosts becomes one on slots: one worker per topology and host; who stays keeps the slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.problem.occupancy import executors_by_slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState


class NoSlotError(ValueError):
    """A host was chosen that has no slot for the topology."""


def assign_slots(state: RoundState, topology: int, placement: Sequence[int]) -> tuple[Slot, ...]:
    """Choose the slots of a topology's executors.

    An executor that stays on its host stays in its slot, so that its worker need not restart for its sake;
    one that returns to where it was when the round began gets its slot back. An executor that comes to a host
    joins the topology's lowest worker there, else it takes the lowest free slot.

    Args:
        state: The cluster so far.
        topology: Index of the topology.
        placement: Host index per executor.

    Raises:
        NoSlotError: A chosen host has no slot that is open to this topology.
    """
    settled = _find_settled(state, topology, placement)
    staying = [
        next((slot for slot in (now, before) if slot is not None and (slot, host) in settled), None)
        for now, before, host in zip(
            state.assignment(topology), state.initial(topology), placement, strict=True
        )
    ]
    kept = {slot for slot in staying if slot is not None}
    joined: dict[int, Slot] = {}
    for slot, host in zip(staying, placement, strict=True):
        if slot is None and host not in joined:
            open_slots = state.open_slots(topology, host)
            if not open_slots:
                raise NoSlotError(f"host {state.hosts.hosts[host].name} has no free worker slot")
            joined[host] = next((candidate for candidate in open_slots if candidate in kept), open_slots[0])
    return tuple(
        joined[host] if slot is None else slot for slot, host in zip(staying, placement, strict=True)
    )


def _find_settled(state: RoundState, topology: int, placement: Sequence[int]) -> set[tuple[Slot, int]]:
    """Return the slots, with their hosts, that executors may stay in or return to.

    A worker whose supervisor is dead or blacklisted is kept as a whole or given up as a whole: no supervisor
    would restart it with other executors.
    """
    settled: set[tuple[Slot, int]] = set()
    for assignment in (state.initial(topology), state.assignment(topology)):
        for slot, executors in executors_by_slot(assignment).items():
            host = state.host_of(slot)
            whole = all(placement[executor] == host for executor in executors)
            usable = state.request.supervisors[slot[0]].usable
            if not state.held_by_others(topology, slot) and (usable or whole):
                settled.add((slot, host))
    return settled
