"""For how long items stand still when a topology changes: measured after each, expected before the next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from provisioning.loop.memory import HOUR_S, Measured, Pausing
from scheduler.elasticity.learning.pauses import expected_pause_s

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from provisioning.cluster.look import TopologyLook
    from provisioning.loop.memory import Memory

_ALONE_S = 3.0
"""A worker that starts alone does so on its old port (`bridge.packing.fresh_ports`), where its supervisor
waits for as long until its predecessor has ended (`supervisor.worker.shutdown.sleep.secs`)."""
KEPT = 20
"""Pauses of a topology that are remembered."""
_MEASURED_S = 45.0
"""So long after a change was asked for its pause is looked at: some workers start later than others, s."""
_SEEN_SHARE = 0.4
"""Of what is expected has passed without work, and then there was some: that was the pause."""
_OVER, _OVER_S = 3.0, 15.0
"""After so many times what was expected, and so many seconds, workers have started anew: a pause that was not
seen until then was too short for that, if there is work now."""
_GIVEN_UP_S = 180.0
"""What has not shown its end after so long is not measured any more, s."""


class WorkMeters(Protocol):
    """What notes when tasks work."""

    def watch(self, topology_id: str, tasks: Collection[int], sample_rate: float = 1.0) -> None:
        """Note from now on when some tasks of a topology execute something, of which some are counted."""

    def still_s(self, topology_id: str) -> float | None:
        """Return the longest time in which none of them did anything, s; 0: too short to be seen."""

    def untold_s(self, topology_id: str) -> float | None:
        """Return what one takes at most that is too short to be seen, s; None if none of them works now."""


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

    def figures(self) -> dict[str, float]:
        """Return them as a log has them."""
        return {"pause_s": self.lasted_s, "expected_pause_s": self.expected_s}


def workers_to_start(topology: TopologyLook, executors: Mapping[str, int], hosts: Collection[str]) -> int:
    """Return how many workers are expected to start anew when numbers of executors change, at least one.

    All tasks of a component are dealt out anew when its number changes, so that Storm starts every worker
    anew that has some of them. There are as many more workers, or fewer, as there are more executors.

    Args:
        topology: Before the change.
        executors: By component, after it; the others keep theirs.
        hosts: On which it may run.
    """
    before = topology.counts()
    changed = [name for name, count in executors.items() if before[name] != count]
    workers = topology.workers_of(before)
    total = sum({**before, **executors}.values())
    if not workers:
        return max(1, min(total, len(hosts)))
    on_a_host = math.ceil(len(workers) / len({host for host, _ in workers}))
    after = min(math.ceil(len(workers) * total / before.total()), on_a_host * max(1, len(hosts)))
    return max(1, len(topology.workers_of(changed)) + after - len(workers))


def expected_s(memory: Memory, topology: str, workers: int, stated_s: float | None) -> float:
    """Return for how long a topology is expected to stand still when it changes, s.

    Workers of hosts that share processors take longer, the more there are (`expected_pause_s`), and one that
    starts alone waits for the end of its predecessor.

    Args:
        memory: With what was measured: of it, else of others.
        topology: Its name.
        workers: That start anew.
        stated_s: What its owner says; None: nothing.
    """
    if stated_s is not None:
        return stated_s
    past = memory.past_pauses
    measured = past.get(topology) or tuple(each for own in past.values() for each in own)[-KEPT:]
    without = [(each.workers, _without_wait_s(each)) for each in measured]
    return expected_pause_s(without, workers) + _wait_s(workers)


def _wait_s(workers: int) -> float:
    return _ALONE_S if workers == 1 else 0.0


def _without_wait_s(measured: Measured) -> float:
    """Return what a pause took beside the wait, at least half of it: not all supervisors wait as long."""
    return max(measured.lasted_s - _wait_s(measured.workers), measured.lasted_s / 2.0)


def with_pause_begun(
    memory: Memory, topology: str, workers: int, stated_s: float | None, now_s: float
) -> Memory:
    """Return the memory of a topology that stands still from now on, until that is seen to be over.

    Args:
        memory: From before.
        topology: Its name.
        workers: That start anew.
        stated_s: For how long its owner says that it will stand still; None: nothing.
        now_s: Time, s since 1970.
    """
    begun = Pausing(now_s, expected_s(memory, topology, workers, stated_s), workers)
    return replace(memory, pausing={**memory.pausing, topology: begun})


def with_change_counted(memory: Memory, topology: str, now_s: float) -> Memory:
    """Return the memory with one change more of the last hour; older ones are forgotten."""
    lately = tuple(each for each in memory.changes.get(topology, ()) if 0.0 <= now_s - each < HOUR_S)
    return replace(memory, changes={**memory.changes, topology: (*lately, now_s)})


def with_pauses_ended(
    memory: Memory, looks: Collection[TopologyLook], meters: WorkMeters, now_s: float
) -> tuple[Memory, tuple[Pause, ...]]:
    """Return the memory with what was seen of pauses, without those that have ended, and these.

    A pause is the longest time in which what comes last executed nothing, in a while after the change.

    Args:
        memory: With changes that were begun.
        looks: Topologies.
        meters: Of tasks.
        now_s: Time, s since 1970.
    """
    by_name = {each.name: each for each in looks}
    memory = replace(memory, pausing={name: each for name, each in memory.pausing.items() if name in by_name})
    ended = []
    for name, begun in memory.pausing.items():
        look, passed_s = by_name[name], now_s - begun.since_s
        lasted_s = meters.still_s(look.topology_id)
        late = not 0.0 <= passed_s < _MEASURED_S
        over = passed_s >= max(_OVER * begun.expected_s, _OVER_S)
        if lasted_s == 0.0 and (late or over):
            lasted_s = meters.untold_s(look.topology_id)
        seen = bool(lasted_s and (over or lasted_s >= _SEEN_SHARE * begun.expected_s))
        moving_s = begun.moving_s
        if moving_s is None and (seen or late):
            # what was counted before is of the pause
            moving_s, memory = now_s, replace(memory, changed_s={**memory.changed_s, name: now_s})
        # a loop that was killed has seen nothing since, but may have before
        lasted_s = lasted_s or begun.lasted_s
        now = replace(begun, moving_s=moving_s, lasted_s=lasted_s if moving_s is not None else None)
        memory = replace(memory, pausing={**memory.pausing, name: now})
        if late and (lasted_s or not 0.0 <= passed_s <= _GIVEN_UP_S):
            meters.watch(look.topology_id, ())
            memory, pause = with_pause_ended(memory, name)
            ended += [pause] if pause is not None else []
    return memory, tuple(ended)


def with_pause_ended(memory: Memory, name: str) -> tuple[Memory, Pause | None]:
    """Return the memory in which nothing more is measured of a topology's pause, and what it took.

    Args:
        memory: With or without a change that was begun.
        name: Of the topology. If its items have not been seen moving again, nothing is known of the pause.
    """
    begun = memory.pausing.get(name)
    memory = replace(memory, pausing={key: each for key, each in memory.pausing.items() if key != name})
    if begun is None or begun.moving_s is None or begun.lasted_s is None:
        return memory, None
    own = (*memory.past_pauses.get(name, ()), Measured(begun.workers, begun.lasted_s))[-KEPT:]
    memory = replace(memory, past_pauses={**memory.past_pauses, name: own})
    return memory, Pause(name, begun.lasted_s, begun.expected_s)


def standing(memory: Memory) -> frozenset[str]:
    """Return the topologies whose items have not been seen moving since they were changed."""
    return frozenset(name for name, each in memory.pausing.items() if each.moving_s is None)


def last_components(look: TopologyLook) -> frozenset[str]:
    """Return the bolts behind which none comes."""
    read = {source.component for each in look.components.values() for source in each.inputs}
    return frozenset(name for name, each in look.components.items() if each.inputs and name not in read)


def last_tasks(look: TopologyLook) -> frozenset[int]:
    """Return the tasks of these."""
    last = last_components(look)
    return frozenset(
        task
        for each in look.executors
        if each.component in last
        for task in range(each.first_task, each.last_task + 1)
    )
