"""As many workers as are wanted, with as many executors each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.packing.job import NO_LIMIT

if TYPE_CHECKING:
    from scheduler.packing.job import Job


@dataclass
class Batch:
    """Workers of one size.

    Attributes:
        executors: Most executors of such a worker.
        left: How many of them are still to be filled.
    """

    executors: int
    left: int


def batches(job: Job) -> list[Batch]:
    """Return the sizes of workers to be filled in turn: two where the wanted number divides unevenly.

    Args:
        job: The job.
    """
    executors, most = int(job.count.sum()), job.rules.executors
    asked = min(job.asked, executors)
    if asked < 1:
        return [Batch(most, NO_LIMIT)]
    small, larger = divmod(executors, asked)
    sizes = [Batch(small + 1, larger)] if larger else []
    return [each for each in sizes if each.executors <= most] + [Batch(min(small, most), NO_LIMIT)]


def with_fewer(job: Job, slots: int) -> Job:
    """Return a job that wants as many workers as there are slots.

    Args:
        job: The job.
        slots: Free slots where it may go, at least one.
    """
    most = -(-int(job.count.sum()) // slots)
    executors = max(job.rules.executors, most)
    if job.loose is not None:
        executors = min(executors, job.loose.executors)
    return replace(job, asked=slots, rules=replace(job.rules, executors=executors))
