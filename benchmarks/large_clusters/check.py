"""An independent check of an assignment: every executor once, and no limit of a host or worker broken."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.large_clusters.cluster import Cluster, Component, Placed, Topology

_ROUNDING = 1e-6
"""Sums of demands may exceed a capacity by this fraction: they are added in another order than Storm's."""


@dataclass(frozen=True)
class Fault:
    """One rule that is broken in one place.

    Attributes:
        rule: `unknown`, `twice`, `missing`, `slot`, `shared slot`, `cpu`, `memory`, `generic`, `heap`,
            `worker rule` or `host rule`.
        text: Where, and by how much.
    """

    rule: str
    text: str


@dataclass(frozen=True)
class Checked:
    """An assignment that was checked.

    Attributes:
        faults: What is wrong with it.
        sound: The executors that the cluster knows, where they are on slots that it knows.
    """

    faults: Sequence[Fault]
    sound: Sequence[Placed]


def check(cluster: Cluster, placed: Sequence[Placed]) -> Checked:
    """Check an assignment; only what is sound is in the sums of demands."""
    known = {
        (id_, task): component
        for id_, topology in cluster.topologies.items()
        for component in topology.components
        for task in component.tasks
    }
    found: list[Fault] = []
    times: Counter[tuple[str, int]] = Counter()
    topologies_on: dict[tuple[str, int], set[str]] = defaultdict(set)
    sound: list[Placed] = []
    for each in placed:
        component = known.get((each.topology, each.task))
        times[each.topology, each.task] += 1
        if component is None or component.name != each.component:
            found.append(Fault("unknown", f"{_name(each)} of {each.component!r} is no executor"))
            continue
        host = cluster.hosts.get(each.host)
        if host is None or each.port not in host.ports:
            found.append(Fault("slot", f"{_name(each)} is on {each.host}:{each.port}, which is no slot"))
            continue
        topologies_on[each.host, each.port].add(each.topology)
        sound.append(each)
    for (id_, task), count in times.items():
        if count > 1:
            found.append(Fault("twice", f"executor {task} of {id_} is placed {count} times"))
    for id_, topology in cluster.topologies.items():
        absent = sum((id_, task) not in times for each in topology.components for task in each.tasks)
        if absent:
            found.append(Fault("missing", f"{absent} of {topology.executors} executors of {id_}"))
    for (name, port), ids in topologies_on.items():
        if len(ids) > 1:
            found.append(Fault("shared slot", f"{name}:{port} has {', '.join(sorted(ids))}"))
    return Checked([*found, *_overloads(cluster, sound, known)], sound)


def _name(each: Placed) -> str:
    return f"executor {each.task} of {each.topology}"


def _overloads(
    cluster: Cluster, placed: Iterable[Placed], known: Mapping[tuple[str, int], Component]
) -> Iterator[Fault]:
    cpu: dict[tuple[str, str, int], float] = defaultdict(float)
    memory: dict[str, float] = defaultdict(float)
    generic: dict[tuple[str, str], float] = defaultdict(float)
    heap: dict[tuple[str, str, int], float] = defaultdict(float)
    in_worker: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for each in placed:
        demand = known[each.topology, each.task]
        worker = each.topology, each.host, each.port
        cpu[worker] += demand.cpu
        memory[each.host] += demand.on_heap + demand.off_heap
        heap[worker] += demand.on_heap
        in_worker[worker].append(demand.name)
        for resource, amount in demand.generic.items():
            generic[each.host, resource] += amount
    _add_shared(cluster, in_worker, memory, heap)
    cpu_of_host: dict[str, float] = defaultdict(float)
    for (_, name, _), amount in cpu.items():
        cpu_of_host[name] += max(amount, cluster.min_worker_cpu)
    for name, host in cluster.hosts.items():
        yield from _above("cpu", f"{name}, % of a core", cpu_of_host[name], host.cpu)
        yield from _above("memory", f"{name}, MB", memory[name], host.memory)
    for (name, resource), amount in generic.items():
        capacity = cluster.hosts[name].generic.get(resource, 0.0)
        yield from _above("generic", f"{name}, {resource}", amount, capacity)
    for (id_, name, port), amount in heap.items():
        most = cluster.topologies[id_].max_heap
        yield from _above("heap", f"the worker of {id_} on {name}:{port}, MB", amount, most)
    yield from _rules(cluster, in_worker)


def _rules(cluster: Cluster, in_worker: Mapping[tuple[str, str, int], Sequence[str]]) -> Iterator[Fault]:
    on_host: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (id_, name, port), components in in_worker.items():
        on_host[id_, name] += components
        for text in cluster.topologies[id_].rules.broken_in_worker(components):
            yield Fault("worker rule", f"{id_} on {name}:{port}: {text}")
    for (id_, name), components in on_host.items():
        for text in cluster.topologies[id_].rules.broken_on_host(components):
            yield Fault("host rule", f"{id_} on {name}: {text}")


def _add_shared(
    cluster: Cluster,
    in_worker: Mapping[tuple[str, str, int], Sequence[str]],
    memory: dict[str, float],
    heap: dict[tuple[str, str, int], float],
) -> None:
    """Add shared memory: once per worker, and once per host and topology."""
    of_host: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (id_, name, port), components in in_worker.items():
        of_host[id_, name].update(components)
        for on_heap, off_heap, _ in _shared(cluster.topologies[id_], components):
            heap[id_, name, port] += on_heap
            memory[name] += on_heap + off_heap
    for (id_, name), together in of_host.items():
        for _, _, once in _shared(cluster.topologies[id_], together):
            memory[name] += once


def _shared(topology: Topology, components: Iterable[str]) -> Iterator[tuple[float, float, float]]:
    present = frozenset(components)
    for each in topology.shared:
        if any(topology.components[index].name in present for index in each.components):
            yield each.on_heap, each.off_heap_worker, each.off_heap_host


def _above(rule: str, place: str, amount: float, capacity: float) -> Iterator[Fault]:
    if amount > capacity * (1 + _ROUNDING) + _ROUNDING:
        yield Fault(rule, f"{place}: {amount:g} of {capacity:g}")
