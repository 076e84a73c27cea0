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


def assign_slots(
    state: RoundState, topology: int, placement: Sequence[int], *, apart: bool = False
) -> tuple[Slot, ...]:
    """Choose the slots of a topology's executors.

    An executor that stays on its host stays in its slot, so that its worker need not restart for its sake;
    one that returns to where it was when the round began gets its slot back. Executors that move to a host
    join the topology's lowest worker there, else they take the lowest free slot. Executors that were lost
    take a free slot first, as joining a healthy worker would restart it.

    Args:
        state: The cluster so far.
        topology: Index of the topology.
        placement: Host index per executor.
        apart: Whether executors that move, too, take a free slot before they join a worker.

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
    joined = {
        host: _joined(state, topology, host, placement, staying, apart=apart)
        for host in {host for slot, host in zip(staying, placement, strict=True) if slot is None}
    }
    return tuple(
        joined[host] if slot is None else slot for slot, host in zip(staying, placement, strict=True)
    )


def _joined(
    state: RoundState,
    topology: int,
    host: int,
    placement: Sequence[int],
    staying: Sequence[Slot | None],
    *,
    apart: bool,
) -> Slot:
    """Choose the slot of the executors that come to a host."""
    open_slots = state.open_slots(topology, host)
    if not open_slots:
        raise NoSlotError(f"host {state.hosts.hosts[host].name} has no free worker slot")
    kept = {slot for slot in staying if slot is not None}
    initial = state.initial(topology)
    lost = any(
        before is None and slot is None and at == host
        for before, slot, at in zip(initial, staying, placement, strict=True)
    )
    if not lost and not apart:
        return next((slot for slot in open_slots if slot in kept), open_slots[0])
    # What loses an executor restarts in any case: another one costs nothing more.
    restarting = {before for before, slot in zip(initial, staying, strict=True) if before != slot}
    order = (kept & restarting, set(open_slots) - kept, kept)
    return next(slot for slots in order for slot in open_slots if slot in slots)


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
