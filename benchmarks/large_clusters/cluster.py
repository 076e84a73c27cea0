"""A cluster and an assignment as the Java side writes them (ClusterJson.java says what each field is)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.large_clusters.worker_rules import WorkerRules, worker_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Host:
    """A host with its supervisor.

    Attributes:
        rack: Name of its rack.
        ports: Its slots.
        cpu: Capacity, percent of a core.
        memory: Capacity, MB.
        generic: Capacity of each generic resource.
    """

    rack: str
    ports: range
    cpu: float
    memory: float
    generic: Mapping[str, float]


@dataclass(frozen=True)
class Component:
    """A component; the demands are those of one of its executors.

    Attributes:
        name: As in the topology.
        tasks: The first (and only) task of each executor.
        cpu: Percent of a core.
        on_heap: MB.
        off_heap: MB.
        generic: By name of the resource; absent means none.
    """

    name: str
    tasks: range
    cpu: float
    on_heap: float
    off_heap: float
    generic: Mapping[str, float]


@dataclass(frozen=True)
class SharedMemory:
    """Memory that executors of some components share, MB: once per worker, and once per host.

    Attributes:
        components: Indices of the components that use it.
        on_heap: In the heap of each worker that holds one of them.
        off_heap_worker: Beside the heap of each such worker.
        off_heap_host: Once on each host that holds one of them.
    """

    components: frozenset[int]
    on_heap: float
    off_heap_worker: float
    off_heap_host: float


@dataclass(frozen=True)
class Topology:
    """A topology; an edge is a pair of component indices, one for each stream between executors.

    Attributes:
        components: In alphabetical order.
        edges: Source and target.
        max_heap: Most on-heap memory that executors of one worker may ask for, MB.
        shared: Its shared memory.
        rules: What may share a worker or a host.
    """

    components: Sequence[Component]
    edges: Sequence[tuple[int, int]]
    max_heap: float
    shared: Sequence[SharedMemory] = ()
    rules: WorkerRules = field(default_factory=WorkerRules)

    @property
    def executors(self) -> int:
        """Number of executors."""
        return sum(len(each.tasks) for each in self.components)


@dataclass(frozen=True)
class Cluster:
    """Hosts and topologies.

    Attributes:
        hosts: By name.
        topologies: By id.
        min_worker_cpu: What a worker counts for at least, percent of a core.
    """

    hosts: Mapping[str, Host]
    topologies: Mapping[str, Topology]
    min_worker_cpu: float = 0.0


@dataclass(frozen=True)
class Placed:
    """An executor where it was placed."""

    topology: str
    task: int
    component: str
    host: str
    port: int


def read_cluster(file: Path) -> Cluster:
    """Read an exported cluster."""
    return parse_cluster(json.loads(file.read_text(encoding="utf-8")))


def parse_cluster(document: Mapping[str, Any]) -> Cluster:
    """Turn an exported cluster's JSON into a cluster."""
    return Cluster(
        {
            each["name"]: Host(
                each["rack"],
                range(each["first_port"], each["first_port"] + each["slots"]),
                each["cpu"],
                each["memory"],
                each["generic"],
            )
            for each in document["hosts"]
        },
        {each["id"]: _topology(each) for each in document["topologies"]},
        document["min_worker_cpu"],
    )


def _topology(document: Mapping[str, Any]) -> Topology:
    components = [
        Component(
            each["name"],
            range(each["first_task"], each["first_task"] + each["executors"]),
            each["cpu"],
            each["on_heap"],
            each["off_heap"],
            each["generic"],
        )
        for each in document["components"]
    ]
    shared = [
        SharedMemory(
            frozenset(each["components"]), each["on_heap"], each["off_heap_worker"], each["off_heap_host"]
        )
        for each in document["shared_memory"]
    ]
    edges = [
        (source, target)
        for source, target, _ in document["edges"]
        if components[source].tasks and components[target].tasks
    ]
    rules = worker_rules(document["conf"], [each.name for each in components])
    return Topology(components, edges, document["max_heap"], shared, rules)


def read_assignment(file: Path) -> list[Placed]:
    """Read an assignment."""
    document = json.loads(file.read_text(encoding="utf-8"))
    hosts = document["hosts"]
    return [
        Placed(topology["id"], task, topology["components"][component], hosts[host], port)
        for topology in document["topologies"]
        for task, component, host, port in topology["executors"]
    ]
