"""What Nimbus says of supervisors and topologies at one moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

SAMPLE_RATE = 0.05
"""Storm's default of `topology.stats.sample.rate`."""
STORMS_CPU = 10.0
"""Storm's default of `topology.component.cpu.pcore.percent`."""
UNREADABLE = "UNREADABLE"
"""Status of topologies of which Nimbus tells nothing, or what cannot be read."""
RESTING = ("INACTIVE", "KILLED")
"""Statuses of topologies whose owners want them to do nothing."""
STANDING = ("ACTIVE", UNREADABLE, *RESTING)
"""Statuses of topologies that are in no change, as far as is known."""


@dataclass(frozen=True)
class Source:
    """A stream that a component takes.

    Attributes:
        component: Who emits it.
        stream: Its id.
        to_all: Whether each task gets every item.
    """

    component: str
    stream: str
    to_all: bool = False


@dataclass(frozen=True)
class StormComponent:
    """A component of a topology.

    Attributes:
        name: Of the component.
        tasks: How many it has, fixed for the topology's life; more executors than tasks there cannot be.
        inputs: Streams that it takes, Storm's own left out; empty: a spout.
        shell: Whether it runs in another process, so that Storm measures no execution times.
        cpu: That an executor asks for, percent of one core.
        memory_mb: That an executor asks for, MB.
        script: What its processes run, where it is in another process and Nimbus says so.
    """

    name: str
    tasks: int
    inputs: tuple[Source, ...]
    shell: bool
    cpu: float
    memory_mb: float
    script: str = ""


@dataclass(frozen=True)
class RunningExecutor:
    """An executor that has a slot.

    Attributes:
        component: Its component.
        first_task: Its first task.
        last_task: Its last task.
        host: Where it runs, by the supervisor's own name.
        port: Of its worker.
    """

    component: str
    first_task: int
    last_task: int
    host: str
    port: int


@dataclass(frozen=True)
class StormsExecutor:
    """An executor of a component that Storm adds itself, such as an acker.

    Attributes:
        host: Where it runs.
        cpu: What it asks for, percent of one core.
        memory_mb: What it asks for, MB.
    """

    host: str
    cpu: float
    memory_mb: float


@dataclass(frozen=True)
class TopologyLook:
    """A topology.

    Attributes:
        name: Of the topology.
        topology_id: Nimbus' id of this start of it.
        status: Storm's word, such as `ACTIVE`.
        components: Its user components by name.
        executors: Those of them that have a slot.
        storms: Executors of Storm's own components that have one.
        sample_rate: Share of items that Storm counts and times, in (0, 1].
        fault: Why nothing more is known of it, one sentence; empty if it is.
    """

    name: str
    topology_id: str
    status: str
    components: Mapping[str, StormComponent]
    executors: tuple[RunningExecutor, ...]
    storms: tuple[StormsExecutor, ...] = ()
    sample_rate: float = SAMPLE_RATE
    fault: str = ""

    def counts(self) -> Counter[str]:
        """Return how many executors each component has."""
        return Counter(each.component for each in self.executors)

    def workers_of(self, components: Collection[str]) -> frozenset[tuple[str, int]]:
        """Return the workers, by host and port, in which executors of some components are."""
        return frozenset((each.host, each.port) for each in self.executors if each.component in components)

    @property
    def tasks_without_slot(self) -> int:
        """How many tasks are in no executor that has a slot."""
        placed = sum(each.last_task - each.first_task + 1 for each in self.executors)
        return sum(each.tasks for each in self.components.values()) - placed


@dataclass(frozen=True)
class SupervisorLook:
    """A supervisor.

    Attributes:
        host: Its name of itself.
        used_workers: Slots that are in use, by whichever topology.
        cpu: Its capacity, percent of one core.
        memory_mb: Its capacity, MB.
        banned: Whether Storm's BlacklistScheduler starts nothing there.
    """

    host: str
    used_workers: int
    cpu: float
    memory_mb: float
    banned: bool = False


@dataclass(frozen=True)
class ClusterLook:
    """All of it.

    Attributes:
        supervisors: By host.
        topologies: Those that were asked for and are on the cluster, by name.
    """

    supervisors: Mapping[str, SupervisorLook]
    topologies: Mapping[str, TopologyLook]

    @cached_property
    def banned(self) -> frozenset[str]:
        """Hosts on which Storm starts nothing."""
        return frozenset(host for host, each in self.supervisors.items() if each.banned)

    @property
    def is_complete(self) -> bool:
        """Whether all of these topologies could be read."""
        return not any(each.fault for each in self.topologies.values())

    @cached_property
    def hosts_with_executors(self) -> frozenset[str]:
        """Hosts on which executors of these topologies are assigned."""
        looks = self.topologies.values()
        scaled = {each.host for one in looks for each in one.executors}
        return frozenset(scaled | {each.host for one in looks for each in one.storms})
