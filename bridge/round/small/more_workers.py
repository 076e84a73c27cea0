"""Which hosts have slots for as many workers as are asked for, and how many executors each of them takes.

Hosts that are filled up to the size of even workers leave slots of others unused where executors cannot be
divided evenly: six of them fill three slots in pairs, though four workers were asked for. So each host gets
workers first and executors for them afterwards, just as many as there are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.problem.frame import Frame
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import IntArray

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Offer:
    """What hosts offer to the executors of a topology that are to be placed.

    Attributes:
        sites: Site of each host, None where it is not known.
        running: Workers that go on running.
        workers: New workers that there can be, at most as many as are missing.
        executors: Executors that are to be placed.
        slots: (n_hosts,) workers that each host has slots for, at most one per executor that it has room for.
        room: (n_hosts,) executors that each host has room for.
        held: (n_hosts,) executors that stay on each host.
    """

    sites: tuple[str | None, ...]
    running: int
    workers: int
    executors: int
    slots: IntArray
    room: IntArray
    held: IntArray

    @property
    def total(self) -> int:
        """Workers that there can be, with those that go on running."""
        return self.running + self.workers

    def quotas(self, placement: Sequence[int]) -> IntArray | None:
        """(n_hosts,) executors of each host by which there are as many workers; None without room for all.

        Hosts that hold most of a placement come first, then others of its sites; those with most room where
        the first ones have too little. As all hosts together take no more executors than there are, each
        gets as many as it has workers.

        Args:
            placement: Host index per executor.
        """
        count = Counter(placement)
        near = Counter(self.sites[host] for host in placement)
        hosts = sorted(
            np.flatnonzero(self.slots).tolist(),
            key=lambda host: (-count[host], -near[self.sites[host]], host),
        )
        workers = self._filled({}, hosts)
        if self.room[list(workers)].sum() < self.executors:
            workers = self._filled(self._roomiest(hosts), hosts)
        if self.room[list(workers)].sum() < self.executors:
            return None
        quota = dict(workers)
        for _ in range(self.executors - sum(workers.values())):
            open_hosts = [host for host in workers if quota[host] < self.room[host]]
            quota[min(open_hosts, key=lambda host: quota[host] / workers[host])] += 1
        most = self.held.copy()
        most[list(quota)] += list(quota.values())
        return most

    def _roomiest(self, hosts: Sequence[int]) -> dict[int, int]:
        """Return the fewest hosts that have room for all executors, with one worker each."""
        by_room = sorted(hosts, key=lambda host: -self.room[host])[: self.workers]
        before = np.cumsum([0, *self.room[by_room[:-1]].tolist()])
        return {host: 1 for host, room in zip(by_room, before, strict=False) if room < self.executors}

    def _filled(self, begun: Mapping[int, int], hosts: Sequence[int]) -> dict[int, int]:
        """Add workers to some, first on their hosts, until there are as many as there can be."""
        workers = dict(begun)
        for host in (*begun, *hosts):
            missing = self.workers - sum(workers.values())
            if missing:
                workers[host] = min(int(self.slots[host]), workers.get(host, 0) + missing)
        return workers


def offer_of(state: RoundState, task: Task, frame: Frame, fixed: Sequence[int | None]) -> Offer:
    """Find out how many workers there can be, and where.

    Args:
        state: The cluster so far.
        task: The topology.
        frame: Its hosts, whatever number of workers is asked for.
        fixed: Per executor the host that it must keep, None if it is free.
    """
    hosts = state.hosts.hosts
    free = [executor for executor, host in enumerate(fixed) if host is None]
    staying = [executor for executor, host in enumerate(fixed) if host is not None]
    kept = {slot for slot, host in zip(state.assignment(task.index), fixed, strict=True) if host is not None}
    where = np.array([host for host in fixed if host is not None], dtype=np.int64)
    held = np.bincount(where, minlength=len(hosts)).astype(np.int64)
    left = np.array(frame.capacity)
    np.subtract.at(left, frame.nodes_of_hosts(where), frame.demand[staying])
    need = frame.demand[free].mean(axis=0) if free else np.ones(left.shape[1])
    # Executors of different demand take the mean of it: what does not fit after all the strategy finds out.
    fits = np.divide(left, need, out=np.full_like(left, np.inf), where=need > 0).min(axis=1)
    fits = np.where(frame.allowed[free].any(axis=0), np.clip(np.floor(fits + _ROUNDING), 0, len(free)), 0)
    room, slots = np.zeros_like(held), np.zeros_like(held)
    room[frame.hosts] = fits
    for host in np.flatnonzero(room).tolist():
        slots[host] = min(len(set(state.open_slots(task.index, host)) - kept), int(room[host]))
    missing = max(task.workers.asked - len(kept), 0)
    return Offer(
        sites=tuple(host.site for host in hosts),
        running=len(kept),
        workers=min(missing, len(free), int(slots.sum())),
        executors=len(free),
        slots=slots,
        room=room,
        held=held,
    )
