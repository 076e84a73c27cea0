"""Jobs are packed onto a fleet: all of them if there is room, else by rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.even import with_fewer
from scheduler.packing.fleet import Ledger
from scheduler.packing.placing import Manner, place_job
from scheduler.packing.refining import refine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet
    from scheduler.packing.job import Job, Worker

SHARES = (1.0, 0.92, 0.86, 0.8)
"""Parts of a node that large jobs fill at first, densest first: sparser ones strand less of a resource."""


_ROUNDING = 1e-9
_TURNS = 2
# Executors that fill such a part of a usual node need nodes that no one has taken a little of.
_LARGE = 0.2

OVERLOADS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 1e6)
"""Parts of their capacity by which nodes may be exceeded for a job that fits no other way, tried in turn."""


@dataclass(frozen=True)
class Stretch:
    """What gives way for a job that fits no other way.

    Attributes:
        nodes: Part of their capacity by which nodes may be exceeded.
        heap: Part of their heap by which workers may be exceeded.
        joining: Whether executors may join running workers.
    """

    nodes: float = 0.0
    heap: float = 0.0
    joining: bool = False


# A host that is too full costs less than a restart, and a restart less than a heap that is too small.
STRETCHES = (
    *(Stretch(nodes=part) for part in OVERLOADS),
    Stretch(joining=True),
    *(Stretch(heap=part) for part in OVERLOADS),
    *(Stretch(heap=part, joining=True) for part in OVERLOADS),
    *(Stretch(nodes=part, heap=part, joining=True) for part in OVERLOADS),
)


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
        return self._polished(self._stretched(ranked))

    def _polished(self, packing: Packing) -> Packing:
        """Let executors of each job change places as long as there is time, those of small jobs first."""
        workers = list(packing.workers)
        placed = [index for index, each in enumerate(workers) if each is not None]
        for index in sorted(placed, key=lambda index: (len(workers[index] or ()), index)):
            if self._expired():
                return replace(packing, workers=tuple(workers))
            job = packing.placed_as[index] or self._jobs[index]
            own = [each for each in workers[index] or () if each.joins is None]
            joining = [each for each in workers[index] or () if each.joins is not None]
            found = refine(self._fleet, packing.ledger, job, own, expired=self._expired)
            workers[index] = (*found, *joining)
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
            placed_as[index], workers[index] = self._place(ledger, self._jobs[index], manner)
            if workers[index] is None:
                refused.add(index)
        return Packing(tuple(workers), frozenset(refused), frozenset(), ledger, complete, tuple(placed_as))

    def _place(
        self, ledger: Ledger, job: Job, manner: Manner
    ) -> tuple[Job | None, tuple[Worker, ...] | None]:
        """Place all of a job, or nothing of it; return it by the rules that were kept, and its workers."""
        joining = (manner.joining and job.running) or job.restarting
        for way in _ways(ledger, job):
            found = place_job(self._fleet, ledger, way, manner) if joining or _may_fit(ledger, way) else None
            if found is not None:
                return way, tuple(found)
        return None, None

    def _stretched(self, packing: Packing) -> Packing:
        """Place refused jobs, too, with as little that gives way as these steps allow."""
        workers, placed_as = list(packing.workers), list(packing.placed_as)
        ledger = packing.ledger
        overloading: set[int] = set()
        refused: set[int] = set()
        for index in sorted(packing.refused):
            if self._expired():
                break
            found = self._at_least(ledger, self._jobs[index])
            if found is None:
                refused.add(index)
                continue
            stretch, ledger, placed_as[index], workers[index] = found
            if stretch.nodes:
                overloading.add(index)
        return replace(
            packing,
            workers=tuple(workers),
            refused=frozenset(refused),
            overloading=frozenset(overloading),
            ledger=ledger,
            complete=all(workers[index] is not None or index in refused for index in packing.refused),
            placed_as=tuple(placed_as),
        )

    def _at_least(self, ledger: Ledger, job: Job) -> tuple[Stretch, Ledger, Job, tuple[Worker, ...]] | None:
        """Place a job with the first step that lets it; None if not even the last one does."""
        if self._with(STRETCHES[-1], ledger, job) is None:
            # What no step can give way for is found out at once, not after all of them.
            return None
        for stretch in STRETCHES:
            if self._matters(stretch, job):
                found = self._with(stretch, ledger, job)
                if found is not None:
                    return stretch, *found
        return None

    def _with(
        self, stretch: Stretch, ledger: Ledger, job: Job
    ) -> tuple[Ledger, Job, tuple[Worker, ...]] | None:
        """Place a job with what gives way; return what is left of the nodes then, too."""
        stretched = job.stretched(stretch.heap if job.soft_heap else 0.0)
        more = self._fleet.capacity * np.where(self._soft, stretch.nodes, 0.0)
        wider = Ledger(ledger.free + more, ledger.slots)
        placed_as, workers = self._place(wider, stretched, Manner(joining=stretch.joining))
        if placed_as is None or workers is None:
            return None
        return Ledger(wider.free - more, wider.slots), placed_as, workers

    def _matters(self, stretch: Stretch, job: Job) -> bool:
        """Whether a step lets anything give way for a job that was in the way before."""
        return (
            (not stretch.nodes or bool(self._soft.any()))
            and (not stretch.heap or (job.soft_heap and job.rules.heap_mb < math.inf))
            and (not stretch.joining or bool(job.running))
        )

    def _size(self, index: int) -> tuple[bool, bool, float]:
        """Order of jobs: those of large executors first, then those of one usual node, small before large."""
        job, usual = self._jobs[index], self._fleet.usual
        share = np.divide(job.demand, usual, out=np.zeros_like(job.demand), where=usual > 0)
        largest = float(share[job.count > 0].max(initial=0.0))
        nodes = float((job.count @ share).max(initial=0.0))
        return largest <= _LARGE, nodes > 1.0, nodes


def _ways(ledger: Ledger, job: Job) -> Iterator[Job]:
    """Yield a job as it is wanted, then with fewer workers, as far as that is only a wish."""
    yield job
    if job.loose is None:
        return
    slots = int(ledger.slots.sum() if job.permitted is None else ledger.slots[job.open_nodes].sum())
    if 0 < slots < job.asked:
        yield with_fewer(job, slots)
    yield job.loosest


def _may_fit(ledger: Ledger, job: Job) -> bool:
    """Whether there are slots and resources enough in all; cheap, as many may be refused in each round."""
    if math.ceil(float(job.count @ job.worker_share) - _ROUNDING) > int(ledger.slots.sum()):
        return False
    has_slot = ledger.slots > 0
    if job.permitted is not None and not job.permitted[job.count > 0][:, has_slot].any(axis=1).all():
        return False
    free = ledger.free[has_slot]
    largest, needed = job.demand[job.count > 0].max(axis=0, initial=0.0), job.count @ job.demand
    enough = (largest <= free.max(axis=0, initial=0.0) + _ROUNDING) & (
        needed <= np.maximum(free, 0.0).sum(axis=0) + _ROUNDING * np.maximum(needed, 1.0)
    )
    return bool((enough | (needed <= 0)).all())


def _fuller(one: Packing, other: Packing | None) -> Packing:
    """Return the one of two packings that places more, for a round in which there is no time for a third."""

    def placed(packing: Packing) -> int:
        return sum(workers is not None for workers in packing.workers)

    fuller = one if other is None or placed(one) > placed(other) else other
    return replace(fuller, refused=frozenset(), complete=False)
