"""How long executors stand still when a plan restarts them: learned from what earlier plans took.

A pause lasts until executors work: a worker that runs has to load them, and to connect, before. Where only
starts of workers are known it lasts until they run.

Workers differ by where they start. A host that runs a topology for the first time loads its jar before, and a
site that is far from Nimbus and ZooKeeper needs longer for all of it: so first starts on a host and restarts
are learned apart, by site as soon as enough are known of it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bridge.problem.assignment import started_workers
from bridge.round.memory import StartedWorker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.problem.assignment import Assignment
    from bridge.round.memory import Memory
    from bridge.wire.messages import Topology

DEFAULT_S = 20.0
"""Until anything is measured; supervisors end a worker, load what it needs and start a JVM in 5 to 25 s."""
LEAST_SAMPLES = 3
UNTIL_THEY_RUN = ", until they run"
"""Ends the source of a pause of which no more is known."""
MOST_SAMPLES = 32
"""The last ones count: hosts, jars and Storm's settings change."""


class Pause(NamedTuple):
    """A pause that is to be expected.

    Attributes:
        pause_s: From the plan until the executors of the last of its workers work, s.
        source: What it rests on: `restarts` of workers on hosts that ran the topology, or `first starts` on
            others, each with the site if it is of one alone, such as `restarts at rome`, and with
            `UNTIL_THEY_RUN` where that is all that is known; or `default`.
        samples: Number of these; 0 for the default.
    """

    pause_s: float
    source: str
    samples: int


def starts_of(
    topology: Topology, before: Assignment, after: Assignment, hosts: Sequence[tuple[str, str | None]]
) -> tuple[StartedWorker, ...]:
    """Return the workers that start when a topology goes from one assignment to another.

    Only those with executors that run by now and stand still meanwhile, if there are any.

    Args:
        topology: The topology.
        before: Slot of each executor by now.
        after: Slot of each executor then.
        hosts: Name and site of the host of each supervisor.
    """
    ran = {hosts[slot[0]][0] for slot in before if slot is not None}
    starting = started_workers(before, after)
    waited_for = [each for each in starting if any(before[executor] is not None for executor in each[1])]
    return tuple(
        StartedWorker(
            task=topology.executor_first_task[min(executors)],
            site=hosts[slot[0]][1],
            first=hosts[slot[0]][0] not in ran,
        )
        for slot, executors in waited_for or starting
    )


def expected_pause(memory: Memory, starts: Iterable[StartedWorker]) -> Pause:
    """Return the pause that is to be expected of a plan: executors wait for the last of its workers.

    Where too few restarts are known they take no longer than first starts or the default, and where too few
    first starts are known these take no less than restarts or the default.

    Args:
        memory: What earlier plans took.
        starts: The workers that start.
    """
    default, found = Pause(DEFAULT_S, "default", 0), []
    for (site, first), workers in Counter((each.site, each.first) for each in starts).items():
        own, other = (_learned(memory, site, workers, first=kind) for kind in (first, not first))
        bound = max if first else min
        found.append(own or bound(default, other or default))
    return max(found, default=default)


def _learned(memory: Memory, site: str | None, workers: int, *, first: bool) -> Pause | None:
    """Return the pause of so many workers by what was measured at their site, else at all; None of too few.

    On average the longest of k draws has k / (k + 1) of all below it: of one worker this is the median.
    """
    source = "first starts" if first else "restarts"
    kind = [each for each in memory.starts if each.first == first]
    here = [each for each in kind if each.site == site]
    for name, starts in ((f"{source} at {site}", here if site else []), (source, kind)):
        last = starts[-MOST_SAMPLES:]
        working = [each.works_s for each in last if each.works_s is not None]
        for until, samples in (("", working), (UNTIL_THEY_RUN, [each.pause_s for each in last])):
            if len(samples) >= LEAST_SAMPLES:
                longest_s = float(np.quantile(samples, workers / (workers + 1)))
                return Pause(longest_s, name + until, len(samples))
    return None
