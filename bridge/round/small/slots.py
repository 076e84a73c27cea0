"""A placement on hosts becomes one on slots: executors get workers, and who stays keeps the slot.

A worker that runs is never split. New workers are as few per host as heap and the rules of Storm's keys
allow; where more are asked for in all, further slots are taken.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import executors_by_slot
from bridge.round.small.new_workers import pack_workers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.problem.workers import WorkerNeeds
    from scheduler.packing.job import WorkerRules

_ROUNDING = 1e-9


class NoSlotError(ValueError):
    """A host was chosen that has no slot for the topology."""


def assign_slots(
    state: RoundState,
    topology: int,
    placement: Sequence[int],
    needs: WorkerNeeds,
    *,
    strict: bool = False,
    apart: bool = False,
) -> tuple[Slot, ...]:
    """Choose the slots of a topology's executors.

    An executor that stays on its host stays in its slot, so that its worker need not restart for its sake;
    one that returns to where it was when the round began gets its slot back. Executors that move to a host
    join the topology's lowest worker there that takes them, else they take free slots, the lowest first.
    Executors that were lost take free slots first, as joining a healthy worker would restart it; so do others
    while the topology has fewer workers than it asks for. Heap gives way where slots do not suffice.

    Args:
        state: The cluster so far.
        topology: Index of the topology.
        placement: Host index per executor.
        needs: What decides which executors share a worker.
        strict: Whether heap never gives way.
        apart: Whether executors that move, too, take a free slot before they join a worker.

    Raises:
        NoSlotError: A chosen host has no slot that is open to an executor.
    """
    settled = _find_settled(state, topology, placement)
    staying = [
        next((slot for slot in (now, before) if slot is not None and (slot, host) in settled), None)
        for now, before, host in zip(
            state.assignment(topology), state.initial(topology), placement, strict=True
        )
    ]
    dealing = _Dealing(state, topology, needs, staying)
    arriving: dict[int, list[int]] = {}
    for executor, (slot, host) in enumerate(zip(staying, placement, strict=True)):
        if slot is None:
            arriving.setdefault(host, []).append(executor)
    for host in sorted(arriving):
        dealing.arrive(host, arriving[host], apart=apart)
    dealing.add_workers()
    dealing.settle_rest(strict=strict)
    slot_of = {executor: slot for slot, held in dealing.members.items() for executor in held}
    return tuple(slot_of[executor] for executor in range(len(placement)))


def count_workers(
    state: RoundState, topology: int, placement: Sequence[int], needs: WorkerNeeds, *, strict: bool = False
) -> int:
    """Return how many workers a placement takes, 0 if there are no slots for it.

    Args:
        state: The cluster so far.
        topology: Index of the topology.
        placement: Host index per executor.
        needs: What decides which executors share a worker.
        strict: Whether heap never gives way.
    """
    try:
        return len(set(assign_slots(state, topology, placement, needs, strict=strict)))
    except NoSlotError:
        return 0


class _Dealing:
    """Executors that get slots, host by host.

    Attributes:
        members: Executors of each worker, as far as they have one.
    """

    def __init__(
        self, state: RoundState, topology: int, needs: WorkerNeeds, staying: Sequence[Slot | None]
    ) -> None:
        self.members: dict[Slot, list[int]] = {}
        self._heap_mb: dict[Slot, float] = {}
        self._state = state
        self._topology = topology
        self._needs = needs
        for executor, slot in enumerate(staying):
            if slot is not None:
                self._put(slot, executor)
        self._kept = frozenset(self.members)
        initial = state.initial(topology)
        self._lost = frozenset(
            executor
            for executor, before in enumerate(initial)
            if before is None and staying[executor] is None
        )
        # What loses an executor restarts in any case: another one costs nothing more.
        self._restarting = {before for before, slot in zip(initial, staying, strict=True) if before != slot}
        self._restarting |= state.restarting(topology)
        self._free: dict[int, list[Slot]] = {}
        self._new: dict[int, list[list[int]]] = {}
        self._rest: dict[int, list[int]] = {}

    def arrive(self, host: int, executors: list[int], *, apart: bool) -> None:
        """Let executors come to a host: they join workers there, or are put into new ones."""
        open_slots = self._state.open_slots(self._topology, host)
        if not open_slots:
            raise NoSlotError(f"host {self._state.hosts.hosts[host].name} has no free worker slot")
        kept = [slot for slot in open_slots if slot in self._kept]
        if apart or not self._lost.isdisjoint(executors):
            kept = [slot for slot in kept if slot in self._restarting]
        elif self._n_workers() < self._needs.asked:
            kept = []
        left = self._join(kept, executors, self._needs.rules)
        self._free[host] = [slot for slot in open_slots if slot not in self._kept]
        self._new[host], self._rest[host] = pack_workers(self._needs, left, len(self._free[host]))

    def add_workers(self) -> None:
        """Add workers where they hold most executors, up to the number asked for, and give them slots."""
        wanted = {host: len(workers) for host, workers in self._new.items()}
        size = {host: sum(map(len, workers)) for host, workers in self._new.items()}
        for _ in range(self._n_workers(), self._needs.asked):
            growing = [host for host in wanted if wanted[host] < min(len(self._free[host]), size[host])]
            if not growing:
                break
            wanted[max(growing, key=lambda host: (size[host] / wanted[host], -host))] += 1
        for host, workers in self._new.items():
            packed = workers
            if wanted[host] > len(workers):
                come = sorted(executor for held in workers for executor in held)
                packed, _ = pack_workers(self._needs, come, len(self._free[host]), wanted[host])
            for slot, held in zip(self._free[host], packed, strict=False):
                for executor in held:
                    self._put(slot, executor)

    def settle_rest(self, *, strict: bool) -> None:
        """Let executors without a worker join one, above its heap if that may give way."""
        for host, rest in self._rest.items():
            open_slots = self._state.open_slots(self._topology, host)
            here = sorted(
                (slot for slot in open_slots if slot in self.members), key=lambda slot: slot in self._kept
            )
            unplaced = self._join(here, rest, self._needs.rules)
            if not strict:
                without_heap = replace(self._needs.rules, heap_mb=math.inf)
                unplaced = self._join(here, unplaced, without_heap, even=True)
            if unplaced:
                name = self._state.hosts.hosts[host].name
                raise NoSlotError(f"host {name} has too few worker slots for what a worker may hold")

    def _n_workers(self) -> int:
        return len(self._kept) + sum(map(len, self._new.values()))

    def _join(
        self, slots: Sequence[Slot], executors: Iterable[int], rules: WorkerRules, *, even: bool = False
    ) -> list[int]:
        """Put each executor into the first worker that takes it, or the smallest; return the others."""
        left = []
        for executor in executors:
            takers = (slot for slot in slots if self._takes(rules, slot, executor))
            smallest = min(takers, key=lambda slot: len(self.members[slot]), default=None) if even else None
            slot = smallest if even else next(takers, None)
            if slot is None:
                left.append(executor)
            else:
                self._put(slot, executor)
        return left

    def _put(self, slot: Slot, executor: int) -> None:
        self.members.setdefault(slot, []).append(executor)
        self._heap_mb[slot] = self._heap_mb.get(slot, 0.0) + self._heap_of(executor)

    def _heap_of(self, executor: int) -> float:
        return float(self._needs.heap_mb[self._needs.component[executor]])

    def _takes(self, rules: WorkerRules, slot: Slot, executor: int) -> bool:
        component = self._needs.component
        return (
            len(self.members[slot]) < rules.executors
            and self._heap_mb[slot] + self._heap_of(executor) <= rules.heap_mb * (1 + _ROUNDING)
            and rules.allow(int(component[executor]), (int(component[each]) for each in self.members[slot]))
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
