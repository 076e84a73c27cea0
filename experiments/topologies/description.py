"""What an experiment has to know of a topology to submit, feed, collect and verify it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName

Say = Callable[[str], None]
Verify = Callable[[Path, Sequence[Path], Say], bool]
"""Compares the results in folders of runs with what is expected, which is kept in the first folder.

It leaves `verdict.json` in each run's folder, and returns whether all results are right.
"""


@dataclass(frozen=True)
class Description:
    """A topology, by the commands that run it; `taxi kill` and `taxi placement` serve every topology.

    Attributes:
        name: Its name in Nimbus.
        group: Group of commands of `stormplace` that has its `submit` and `collect`.
        title: What it is, for people, such as `the taxi query`.
        components: Ids of its components, one executor each.
        ends: Components that Stormplace is asked to pin where rows and results are.
        submit: Arguments of `submit` that are its own.
        collect: Arguments of `collect` that are its own.
        verify: Compares its results with what is expected.
    """

    name: str
    group: str
    title: str
    components: tuple[str, ...]
    ends: tuple[str, ...]
    verify: Verify
    submit: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()

    def workers(self, more_executors: int = 0) -> int:
        """Return the fewest workers that hold its executors, two to a host: the best for every scheduler."""
        return -(-(len(self.components) + more_executors) // 2)


@dataclass(frozen=True)
class FeedCommand:
    """The command that feeds rows to a run.

    Attributes:
        title: What is fed, for people.
        command: Command of the topology's group.
        arguments: Its arguments, without Redis and run.
        rejects: Name of the file in the run's folder that takes rows which cannot be fed; None: no such file.
    """

    title: str
    command: str
    arguments: tuple[str, ...]
    rejects: str | None = None


@dataclass(frozen=True)
class Turn:
    """One run of a topology under one scheduler.

    Attributes:
        label: Its name, also of the run in Redis.
        topology: What runs.
        feeding: How it is fed; None: its sources make what they emit.
        scheduler: Storm's scheduler; None: the lab's, which stays.
        workers: Worker slots to ask for.
        strategy: Strategy of the topology's own; None: that of the daemon.
        pins: Places by component.
        conf: Further configuration of the topology.
    """

    label: str
    topology: Description
    feeding: FeedCommand | None
    scheduler: SchedulerName | None
    workers: int
    strategy: str | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, object] = field(default_factory=dict)


def turn_under(
    scheduler: SchedulerName,
    topology: Description,
    feeding: FeedCommand | None,
    *,
    ends_at: str,
    strategy: str | None = None,
    label: str | None = None,
    conf: Mapping[str, object] | None = None,
) -> Turn:
    """Describe a turn under a scheduler; what only Stormplace understands is for it alone.

    Args:
        scheduler: Storm's scheduler.
        topology: What runs.
        feeding: How it is fed.
        ends_at: Place of the topology's ends, under Stormplace.
        strategy: Strategy of the topology's own, under Stormplace; None: that of the daemon.
        label: Name of the turn; None: the scheduler's.
        conf: Further configuration under Stormplace.
    """
    name = label or scheduler
    if scheduler != "stormplace":
        return Turn(name, topology, feeding, scheduler, topology.workers())
    pins = dict.fromkeys(topology.ends, ends_at)
    return Turn(name, topology, feeding, scheduler, topology.workers(), strategy, pins, conf or {})
