"""The state of a round while it is planned: where executors run, which slots are taken, what hosts carry."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bridge.network.cluster import CPU, EXECUTORS, MEMORY, UNLIMITED, Hosts, Slot, stated_amount
from bridge.problem.assignment import Assignment, assignment_of, left_slots, restarted_workers
from bridge.problem.shared_memory import shared_of
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import PlanRequest, Topology
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.packing.shared import Shared

_RESOURCE_NAMES = {CPU: "CPU", MEMORY: "memory"}
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class _Load:
    """What one topology needs where it runs: there may be very many of them, and more hosts.

    Attributes:
        hosts: (n_used,) the hosts that it uses, ascending.
        amounts: (n_used, n_resources) what its executors need there.
    """

    hosts: IntArray
    amounts: FloatArray


class RoundState:
    """The cluster as it stands after the decisions taken so far in one round.

    Attributes:
        request: The round.
        hosts: Its hosts.
        resources: Names of the limited resources, `EXECUTORS` first.
        limits: How firm CPU, memory and heap are.
        changed: Topologies that were assigned, in the order of these decisions.
    """

    def __init__(
        self, request: PlanRequest, hosts: Hosts, resources: Literal["soft", "strict", "off"]
    ) -> None:
        self.request = request
        self.hosts = hosts
        self.limits = resources
        self.changed: list[int] = []
        own = (EXECUTORS,) if resources == "off" else (EXECUTORS, CPU, MEMORY)
        # Users choose these names: they must be none of the own ones.
        known = () if resources == "off" else request.resource_names
        named = tuple(f"{name} (resources.map)" for name in known)
        self.resources = (*own, *named)
        self._capacity = np.column_stack(
            [
                np.array([host.capacity[name] for host in hosts.hosts], dtype=np.float64).reshape(-1)
                for name in own
            ]
            + [_offered(request, hosts, column) for column in range(len(named))]
        )
        # What may be exceeded where a topology fits no other way.
        self._soft = np.full(self._capacity.shape, resources == "soft")
        self._soft[:, len(own) :] = False
        self._soft[:, 0] = [not host.limited for host in hosts.hosts]
        memory = own.index(MEMORY) if MEMORY in own else None
        self._shared = [
            None if memory is None else shared_of(topology, memory) for topology in request.topologies
        ]
        self._demand = [self._demand_of(topology) for topology in request.topologies]
        self._initial = [assignment_of(topology) for topology in request.topologies]
        self._assignment = list(self._initial)
        self._left = [left_slots(topology) for topology in request.topologies]
        self._load = [self._load_of(index) for index in range(len(request.topologies))]
        self._total = np.zeros_like(self._capacity)
        for load in self._load:
            self._total[load.hosts] += load.amounts
        self._moves = [0] * len(request.topologies)
        self._restarts = [0] * len(request.topologies)
        # Slots taken when the round began stay reserved: the shim frees none for another topology.
        self._began: dict[Slot, int] = {}
        for index, assignment in enumerate(self._initial):
            self._began.update({slot: index for slot in assignment if slot is not None})
        self._holder = dict(self._began)

    def initial(self, topology: int) -> Assignment:
        """Where the executors of a topology ran when the round began."""
        return self._initial[topology]

    def assignment(self, topology: int) -> Assignment:
        """Where the executors of a topology run after the decisions so far."""
        return self._assignment[topology]

    def restarting(self, topology: int) -> frozenset[Slot]:
        """Slots of workers that restart in any case, as executors that ran there are no more."""
        return self._left[topology]

    def supervisors(self, topology: int) -> tuple[int, ...]:
        """Supervisor of each executor of a topology after the decisions so far, `UNASSIGNED` for none."""
        return tuple(UNASSIGNED if slot is None else slot[0] for slot in self._assignment[topology])

    def demand(self, topology: int) -> FloatArray:
        """Return what the executors of a topology need, (n_executors, n_resources)."""
        return self._demand[topology]

    def capacity_left(self, topology: int, overload: float = 0.0, least: int = 0) -> FloatArray:
        """Return what the other topologies leave of every host, (n_hosts, n_resources), never below 0.

        Args:
            topology: Index of the topology.
            overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.
            least: Executors for which there is room on each host that states no number of them.
        """
        capacity = self._capacity * np.where(self._soft, 1.0 + overload, 1.0)
        left = capacity - self._without(topology)
        left = np.clip(left - self._reserve(topology), 0.0, UNLIMITED)
        left[:, 0] = np.where(self._soft[:, 0], np.maximum(left[:, 0], least), left[:, 0])
        return left

    @property
    def stretches(self) -> bool:
        """Whether any capacity may be exceeded."""
        return bool((self._soft & (self._capacity < UNLIMITED)).any())

    def overloads(self, topology: int, placement: Sequence[int]) -> tuple[str, ...]:
        """Name the hosts that would carry more CPU or memory than they offer, one phrase each.

        Args:
            topology: Index of the topology.
            placement: Host index per executor.
        """
        load = self._without(topology)
        np.add.at(load, list(placement), self._demand[topology])
        load[sorted(set(placement))] += self._reserve(topology)
        part = np.divide(load, self._capacity, out=np.zeros_like(load), where=self._capacity > 0)
        return tuple(
            f"{self.hosts.hosts[host].name} at {part[host, column]:.0%} of its {_RESOURCE_NAMES[name]}"
            for host in sorted(set(placement))
            for column, name in enumerate(self.resources)
            if name in _RESOURCE_NAMES and part[host, column] > 1.0 + _ROUNDING
        )

    def host_of(self, slot: Slot) -> int:
        """Host index of a slot."""
        return self.hosts.host_of_supervisor[slot[0]]

    def hosts_of(self, assignment: Assignment) -> list[int | None]:
        """Host index of each executor of a topology, None if it has no slot."""
        return [None if slot is None else self.host_of(slot) for slot in assignment]

    def open_slots(self, topology: int, host: int) -> tuple[Slot, ...]:
        """Slots of a host that no other topology holds and that may take new executors, lowest first.

        The order is by supervisor id and port, so that it does not depend on the order of the request.
        """
        supervisors = self.request.supervisors
        slots = [
            (index, port)
            for index in self.hosts.hosts[host].supervisors
            if supervisors[index].usable
            for port in supervisors[index].ports
            if not self.held_by_others(topology, (index, port))
        ]
        return tuple(sorted(slots, key=lambda slot: (supervisors[slot[0]].id, slot[1])))

    def slots_for(self, topology: int) -> FloatArray:
        """(n_hosts,) number of slots that are open to a topology."""
        hosts = range(len(self.hosts.hosts))
        return np.array([len(self.open_slots(topology, host)) for host in hosts], dtype=np.float64)

    def held_by_others(self, topology: int, slot: Slot) -> bool:
        """Whether another topology holds a slot, or held it when the round began."""
        return self._holder.get(slot, topology) != topology or self._began.get(slot, topology) != topology

    def assign(self, topology: int, assignment: Sequence[Slot]) -> None:
        """Put every executor of a topology into a slot."""
        for slot in self._assignment[topology]:
            if slot is not None:
                self._holder.pop(slot, None)
        self._assignment[topology] = tuple(assignment)
        self.changed.append(topology)
        self._holder.update(dict.fromkeys(assignment, topology))
        self._total = self._without(topology)
        self._load[topology] = self._load_of(topology)
        self._total[self._load[topology].hosts] += self._load[topology].amounts
        pairs = zip(self._initial[topology], assignment, strict=True)
        self._moves[topology] = sum(before is not None and before != after for before, after in pairs)
        self._restarts[topology] = self.restarts_by(topology, assignment)

    def moves(self, topology: int) -> int:
        """Number of executors that ran when the round began and now have another slot."""
        return self._moves[topology]

    def total_moves(self) -> int:
        """Number of running executors that this round moves, over all topologies."""
        return sum(self._moves)

    def restarts(self, topology: int) -> int:
        """Number of executors of the workers that this round restarts."""
        return self._restarts[topology]

    def total_restarts(self) -> int:
        """Number of executors that this round restarts, over all topologies."""
        return sum(self._restarts)

    def restarts_by(self, topology: int, assignment: Sequence[Slot | None]) -> int:
        """Number of executors that an assignment would restart in this round."""
        return sum(map(len, self.restarted_workers(topology, assignment)))

    def restarted_workers(
        self, topology: int, assignment: Sequence[Slot | None] | None = None
    ) -> list[set[int]]:
        """Executors of each worker that ran when the round began and has another set of them afterwards.

        Args:
            topology: Index of the topology.
            assignment: Slot per executor afterwards; None stands for the decisions so far.
        """
        after = self._assignment[topology] if assignment is None else assignment
        return restarted_workers(self._initial[topology], after)

    def carried_out(self, topology: int, assignment: Sequence[Slot]) -> RoundState:
        """Return the state in which the next round begins if this assignment is the last of this one."""
        later = copy(self)
        later._assignment, later._load = list(self._assignment), list(self._load)
        later._moves, later._restarts = list(self._moves), list(self._restarts)
        later._holder, later.changed = dict(self._holder), list(self.changed)
        later.assign(topology, assignment)
        later._initial, later._began = list(later._assignment), dict(later._holder)
        later._moves, later._restarts = [0] * len(self._moves), [0] * len(self._moves)
        later._left = [frozenset()] * len(self._left)
        return later

    def _demand_of(self, topology: Topology) -> FloatArray:
        own = (np.ones(topology.n_executors), topology.executor_cpu_percent, topology.executor_memory_mb)
        n_own = len(own) if CPU in self.resources else 1
        table = np.zeros((topology.n_executors, len(self.resources)))
        for column in range(n_own):
            table[:, column] = own[column]
        if topology.component_resources and len(self.resources) > n_own:
            by_component = np.array(topology.component_resources).reshape(len(topology.component_names), -1)
            table[:, n_own:] = by_component[list(topology.executor_component)]
        return np.clip(table, 0.0, UNLIMITED)

    def _without(self, topology: int) -> FloatArray:
        """(n_hosts, n_resources) what the other topologies need on every host."""
        load = self._total.copy()
        load[self._load[topology].hosts] -= self._load[topology].amounts
        return load

    def _load_of(self, topology: int) -> _Load:
        placed = [
            (self.host_of(slot), index) for index, slot in enumerate(self._assignment[topology]) if slot
        ]
        where = [host for host, _ in placed]
        executors = [index for _, index in placed]
        place = {host: index for index, host in enumerate(sorted(set(where)))}
        hosts = np.array(list(place), dtype=np.int64)
        amounts = np.zeros((len(place), len(self.resources)))
        np.add.at(amounts, [place[host] for host in where], self._demand[topology][executors])
        shared = self._shared[topology]
        if shared is not None and placed:
            amounts[:, shared.resource] += self._shared_by(shared, topology, where, executors)[hosts]
        return _Load(hosts, amounts)

    def _shared_by(
        self, shared: Shared, topology: int, hosts: Sequence[int], executors: Sequence[int]
    ) -> FloatArray:
        """(n_hosts,) memory that executors with slots share."""
        component = np.array(self.request.topologies[topology].executor_component, dtype=np.int64)
        assignment = self._assignment[topology]
        number = {slot: index for index, slot in enumerate(sorted(set(filter(None, assignment))))}
        worker = np.array([number[slot] for slot in assignment if slot], dtype=np.int64)
        where = np.array(hosts, dtype=np.int64)
        return shared.usage(component[executors], where, worker, len(self.hosts.hosts))

    def _reserve(self, topology: int) -> FloatArray:
        """(n_resources,) what a topology shares on a host with a worker that holds all of its components."""
        reserve, shared = np.zeros(len(self.resources)), self._shared[topology]
        if shared is not None:
            everyone = np.bincount(
                self.request.topologies[topology].executor_component, minlength=shared.users.shape[1]
            )
            reserve[shared.resource] = shared.needed(everyone)
        return reserve


def _offered(request: PlanRequest, hosts: Hosts, column: int) -> FloatArray:
    """(n_hosts,) what the usable supervisors of each host offer of a resource that they name themselves."""
    offered = np.zeros(len(hosts.hosts))
    for supervisor, host in zip(request.supervisors, hosts.host_of_supervisor, strict=True):
        if supervisor.usable and supervisor.resources:
            offered[host] += stated_amount(supervisor.resources[column]) or 0.0
    return offered
