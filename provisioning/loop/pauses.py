"""For how long items stand still when a topology changes: measured after each, expected before the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Protocol

from provisioning.measuring.task_meters import EMITTED, EXECUTED

if TYPE_CHECKING:
    from collections.abc import Collection

    from provisioning.cluster.look import TopologyLook
    from provisioning.loop.memory import Memory

FIRST_S = 10.0
"""What is expected before anything was measured: workers stop, start, and find each other."""
KEPT = 9
"""Pauses of a topology that are remembered; the median counts, as one may have been of another kind."""
_REST_S = 1.0
"""For so long spouts rest before workers are stopped (`NimbusCluster.rebalance`), s."""
_EMPTYING_S = 3.0
"""For so long bolts work off what they have had before, s: workers are stopped after so long."""
_GIVEN_UP_S = 180.0
"""What has not shown its end after so long is not measured any more, s."""


class WorkMeters(Protocol):
    """What counters of tasks say."""

    def worked_s(self, topology_id: str, tasks: Collection[int], kind: str, since_s: float) -> float | None:
        """Return when one of some tasks first counted something after a time."""


@dataclass(frozen=True)
class Pause:
    """A pause that has ended.

    Attributes:
        topology: Name of the topology.
        lasted_s: s.
        expected_s: What was expected before, s.
    """

    topology: str
    lasted_s: float
    expected_s: float

    def __str__(self) -> str:
        return f"its items stood still for {self.lasted_s:.1f} s, {self.expected_s:.1f} s were expected"


def expected_s(memory: Memory, topology: str, stated_s: float | None) -> float:
    """Return for how long a topology is expected to stand still when it changes, s.

    Args:
        memory: With what was measured: of it, else of others.
        topology: Its name.
        stated_s: What its owner says; None: nothing.
    """
    if stated_s is not None:
        return stated_s
    measured = memory.pauses.get(topology) or [each for own in memory.pauses.values() for each in own]
    return median(measured) if measured else FIRST_S


def with_pauses_ended(
    memory: Memory, looks: Collection[TopologyLook], meters: WorkMeters, now_s: float
) -> tuple[Memory, tuple[Pause, ...]]:
    """Return the memory with the pauses that have ended, and these.

    One has ended once spouts have emitted and what comes last has executed something.

    Args:
        memory: With changes that were begun.
        looks: Topologies.
        meters: Of tasks.
        now_s: Time, s since 1970.
    """
    pausing, pauses, ended = dict(memory.pausing), dict(memory.pauses), []
    for look in looks:
        begun = pausing.get(look.name)
        if begun is None or look.name in memory.wanted:
            continue
        until_s = _resumed_s(look, meters, begun.since_s)
        if until_s is not None:
            lasted_s = until_s - begun.since_s
            pauses[look.name] = (*pauses.get(look.name, ()), lasted_s)[-KEPT:]
            ended.append(Pause(look.name, lasted_s, begun.expected_s))
        if until_s is not None or not 0.0 <= now_s - begun.since_s <= _GIVEN_UP_S:
            del pausing[look.name]
    return replace(memory, pausing=pausing, pauses=pauses), tuple(ended)


def _resumed_s(look: TopologyLook, meters: WorkMeters, since_s: float) -> float | None:
    """Return when items moved again from one end of a topology to the other, s since 1970; None: not yet."""
    read = {source.component for each in look.components.values() for source in each.inputs}
    spouts = {each.name for each in look.components.values() if not each.inputs}
    leaves = look.components.keys() - read - spouts
    moments = [
        meters.worked_s(
            look.topology_id,
            {
                task
                for each in look.executors
                if each.component in ends
                for task in range(each.first_task, each.last_task + 1)
            },
            counter,
            since_s + rest_s,
        )
        for ends, counter, rest_s in ((spouts, EMITTED, _REST_S), (leaves, EXECUTED, _EMPTYING_S))
        if ends
    ]
    known = [each for each in moments if each is not None]
    return max(known) if known and len(known) == len(moments) else None
