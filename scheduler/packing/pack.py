"""Jobs are packed onto a fleet: all of them if there is room, else by rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.fleet import Ledger
from scheduler.packing.placing import Manner, place_job
from scheduler.packing.refining import refine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet
    from scheduler.packing.job import Job, Worker

SHARES = (1.0, 0.92, 0.86, 0.8)
"""Parts of a node that large jobs fill at first, densest first: sparser ones strand less of a resource."""


_TURNS = 2
# Executors that fill such a part of a usual node need nodes that no one has taken a little of.
_LARGE = 0.2

OVERLOADS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 1e6)
"""Parts of their capacity by which nodes may be exceeded for a job that fits no other way, tried in turn."""


@dataclass(frozen=True, eq=False)
class Packing:
    """What was placed.

    Attributes:
        workers: New workers by job; None for a job that is not placed, or not looked at in time.
        refused: Jobs for whose executors there is no room.
        overloading: Jobs that are placed above what nodes offer.
        ledger: What is left of the nodes.
        complete: Whether the time was enough to look at every job.
        placed_as: Each job by the rules that its workers keep; None for one that is not placed.
        polished: Whether it was enough to bring the executors of each job as close together as they get.
    """

    workers: tuple[tuple[Worker, ...] | None, ...]
    refused: frozenset[int]
    overloading: frozenset[int]
    ledger: Ledger
    complete: bool
    placed_as: tuple[Job | None, ...] = ()
    polished: bool = False


class Packer:
    """Jobs and the fleet that they are packed onto.

    Args:
        fleet: The nodes.
        jobs: What to place, in the order of who comes first when there is not room for all.
        soft: (n_nodes, n_resources) what may be exceeded where a job fits no other way.
        expired: Whether the time is over; asked between jobs.
    """

    def __init__(
        self, fleet: Fleet, jobs: Sequence[Job], soft: BoolArray, expired: Callable[[], bool]
    ) -> None:
        self._fleet = fleet
        self._jobs = jobs
        self._soft = soft
        self._expired = expired

    def pack(self, free: FloatArray, slots: IntArray) -> Packing:
        """Place every executor of every job, or of as many jobs as there is room for.

        If all jobs have room, their order matters to the packing alone: those that fit on one node come
        first, small before large, as large ones lose least by taking what is left. A job that finds no room
        comes first in the next attempt, as in Joslin and Clements, Squeaky Wheel Optimization (1999). If
        there is not room for all, rank decides. Executors change places only when every job has its own.

        Args:
            free: (n_nodes, n_resources) what is left of each node.
            slots: (n_nodes,) free worker slots.
        """
        by_size = sorted(range(len(self._jobs)), key=lambda index: (*self._size(index), index))
        best: Packing | None = None
        for share in SHARES:
            order, refused = by_size, None
            for _ in range(_TURNS):
                found = self._attempt(Ledger(free, slots), order, Manner(share))
                if found.complete and not found.refused:
                    return self._polished(found)
                if not found.complete:
                    return self._polished(_fuller(found, best))
                best = _fuller(found, best)
                if found.refused == refused:
                    break
                refused = found.refused
                order = sorted(order, key=lambda index: index not in found.refused)
            else:
                continue
            # Coming first does not help them: neither does leaving something to others.
            break
        ranked = self._attempt(Ledger(free, slots), range(len(self._jobs)), Manner())
        if not ranked.complete:
            return self._polished(_fuller(ranked, best))
        return self._polished(self._overloaded(ranked) if self._soft.any() else ranked)

    def _polished(self, packing: Packing) -> Packing:
        """Let executors of each job change places as long as there is time, those of small jobs first."""
        workers = list(packing.workers)
        placed = [index for index, each in enumerate(workers) if each is not None]
        for index in sorted(placed, key=lambda index: (len(workers[index] or ()), index)):
            if self._expired():
                return replace(packing, workers=tuple(workers))
            job = packing.placed_as[index] or self._jobs[index]
            found = refine(self._fleet, packing.ledger, job, workers[index] or (), expired=self._expired)
            workers[index] = tuple(found)
        polished = packing.complete and not self._expired()
        return replace(packing, workers=tuple(workers), polished=polished)

    def _attempt(self, ledger: Ledger, order: Sequence[int], manner: Manner) -> Packing:
        workers: list[tuple[Worker, ...] | None] = [None] * len(self._jobs)
        placed_as: list[Job | None] = [None] * len(self._jobs)
        refused: set[int] = set()
        complete = True
        for index in order:
            if self._expired():
                complete = False
                break
            placed_as[index], workers[index] = self._place(ledger, index, manner)
            if workers[index] is None:
                refused.add(index)
        return Packing(tuple(workers), frozenset(refused), frozenset(), ledger, complete, tuple(placed_as))

    def _place(
        self, ledger: Ledger, index: int, manner: Manner
    ) -> tuple[Job | None, tuple[Worker, ...] | None]:
        """Place all of a job, or nothing of it; return it by the rules that were kept, and its workers."""
        wanted = self._jobs[index]
        loose = None if wanted.loose is None else replace(wanted, rules=wanted.loose)
        for job in filter(None, (wanted, loose)):
            found = place_job(self._fleet, ledger, job, manner)
            if found is not None:
                return job, tuple(found)
        return None, None

    def _overloaded(self, packing: Packing) -> Packing:
        """Place refused jobs, too, with as little overload as these steps allow."""
        workers, placed_as = list(packing.workers), list(packing.placed_as)
        ledger = packing.ledger
        overloading: set[int] = set()
        for index in sorted(packing.refused):
            for overload in OVERLOADS:
                if self._expired():
                    return replace(
                        packing,
                        workers=tuple(workers),
                        overloading=frozenset(overloading),
                        ledger=ledger,
                        complete=False,
                        placed_as=tuple(placed_as),
                    )
                more = self._fleet.capacity * np.where(self._soft, overload, 0.0)
                stretched = Ledger(ledger.free + more, ledger.slots)
                placed_as[index], workers[index] = self._place(stretched, index, Manner())
                if workers[index] is not None:
                    ledger = Ledger(stretched.free - more, stretched.slots)
                    overloading.add(index)
                    break
        return replace(
            packing,
            workers=tuple(workers),
            refused=packing.refused - overloading,
            overloading=frozenset(overloading),
            ledger=ledger,
            placed_as=tuple(placed_as),
        )

    def _size(self, index: int) -> tuple[bool, bool, float]:
        """Order of jobs: those of large executors first, then those of one usual node, small before large."""
        job, usual = self._jobs[index], self._fleet.usual
        share = np.divide(job.demand, usual, out=np.zeros_like(job.demand), where=usual > 0)
        largest = float(share[job.count > 0].max(initial=0.0))
        nodes = float((job.count @ share).max(initial=0.0))
        return largest <= _LARGE, nodes > 1.0, nodes


def _fuller(one: Packing, other: Packing | None) -> Packing:
    """Return the one of two packings that places more, for a round in which there is no time for a third."""

    def placed(packing: Packing) -> int:
        return sum(workers is not None for workers in packing.workers)

    fuller = one if other is None or placed(one) > placed(other) else other
    return replace(fuller, refused=frozenset(), complete=False)
