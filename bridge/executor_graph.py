"""A topology's executors as the operators of an application, with rates dealt out by grouping.

As long as no rates are measured every spout executor emits at a unit rate, and a component passes on, on
each of its streams, as many tuples as it receives (selectivity 1). An executor's share of its component's
tuples is its share of the component's tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.messages import ComponentKind, Grouping
from scheduler.graph import break_cycles, topological_order
from scheduler.problem import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.messages import Topology
    from bridge.settings import PlanSettings
    from scheduler.arrays import FloatArray, IntArray

ACK_INIT = "__ack_init"
ACK_ACK = "__ack_ack"
# An acknowledgement carries two 8-byte ids and its framing, whatever the size of the tuple that it speaks of.
ACK_BYTES = 24.0


@dataclass(frozen=True)
class ExecutorGraph:
    """Executors and the streams between them.

    Attributes:
        names: One per executor, `component[first task]` made unique by the task.
        streams: Streams between executors; acknowledgements, system traffic and feedback are not critical.
        feedback: Names of the component pairs whose streams close a cycle.
    """

    names: tuple[str, ...]
    streams: tuple[Stream, ...]
    feedback: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Executors by component: index lists, number of tasks, share of the component's tasks."""

    members: tuple[IntArray, ...]
    tasks: tuple[FloatArray, ...]
    share: tuple[FloatArray, ...]


@dataclass(frozen=True, slots=True)
class _Edge:
    """One subscription between two components, `critical` if it lies on source-to-sink paths."""

    source: int
    target: int
    grouping: Grouping
    stream_id: str
    critical: bool


def build_executor_graph(topology: Topology, settings: PlanSettings) -> ExecutorGraph:
    """Deal the rates of a topology's streams out to its executors.

    Args:
        topology: Components, streams and executors.
        settings: Unit rate, tuple size, and the number of pairs above which few pairs carry an edge's rate.
    """
    layout = _layout(topology)
    names = tuple(
        f"{topology.component_names[component]}[{first}]"
        for component, first in zip(topology.executor_component, topology.executor_first_task, strict=True)
    )
    edges, feedback = _edges(topology)
    output = _output_rates(topology, edges, layout, settings.unit_rate)
    rates: dict[tuple[int, int, bool, float], float] = {}
    for edge in edges:
        sent = _sent(edge, topology, output, layout)
        acknowledges = edge.stream_id.startswith("__ack")
        tuple_bytes = ACK_BYTES if acknowledges else settings.tuple_bytes
        weight = _received_by(edge, topology, output, layout)
        for i, j, rate in _pairs(sent, weight, settings.max_streams_per_edge):
            source = int(layout.members[edge.source][i])
            target = int(layout.members[edge.target][j])
            if source == target:
                # Tuples that an executor sends to itself never leave it.
                continue
            key = (source, target, edge.critical, tuple_bytes)
            rates[key] = rates.get(key, 0.0) + rate
    streams = tuple(
        Stream(names[source], names[target], rate=rate, tuple_bytes=size, critical=critical)
        for (source, target, critical, size), rate in sorted(rates.items())
    )
    return ExecutorGraph(names, streams, feedback)


def _layout(topology: Topology) -> _Layout:
    component = np.array(topology.executor_component, dtype=np.int64)
    tasks = np.array(topology.executor_last_task, dtype=np.float64) - topology.executor_first_task + 1.0
    members = tuple(np.flatnonzero(component == index) for index in range(len(topology.component_names)))
    by_component = tuple(tasks[index] for index in members)
    return _Layout(
        members, by_component, tuple(count / count.sum() if count.size else count for count in by_component)
    )


def _edges(topology: Topology) -> tuple[tuple[_Edge, ...], tuple[tuple[str, str], ...]]:
    """Return all subscriptions and the pairs of components whose subscriptions are feedback."""
    pairs = list(zip(topology.stream_from, topology.stream_to, strict=True))
    user = [index for index, (source, target) in enumerate(pairs) if _is_user(topology, source, target)]
    feedback = {
        user[k] for k in break_cycles(len(topology.component_names), [pairs[index] for index in user])
    }
    ordinary = set(user) - feedback
    edges = tuple(
        _Edge(source, target, topology.stream_groupings[index], topology.stream_ids[index], index in ordinary)
        for index, (source, target) in enumerate(pairs)
    )
    names = topology.component_names
    return edges, tuple(sorted({(names[pairs[k][0]], names[pairs[k][1]]) for k in feedback}))


def _is_user(topology: Topology, *components: int) -> bool:
    user = (ComponentKind.SPOUT, ComponentKind.BOLT)
    return all(topology.component_kinds[component] in user for component in components)


def _output_rates(
    topology: Topology, edges: Sequence[_Edge], layout: _Layout, unit_rate: float
) -> list[FloatArray]:
    """Return per component the tuples per second that each of its executors emits on each of its streams."""
    count = len(topology.component_names)
    forward = [edge for edge in edges if edge.critical]
    fed = {edge.target for edge in forward}
    output: list[FloatArray] = []
    for component in range(count):
        # A bolt without input is driven by Storm's clock: it emits on its own like a spout.
        emits = _is_user(topology, component) and component not in fed
        executors = len(layout.members[component])
        output.append(layout.share[component] * (unit_rate * executors if emits else 0.0))
    incoming: list[list[_Edge]] = [[] for _ in range(count)]
    for edge in forward:
        incoming[edge.target].append(edge)
    for component in topological_order(count, [(edge.source, edge.target) for edge in forward]):
        for edge in incoming[component]:
            output[component] += output[edge.source].sum() * _weights(edge.grouping, component, layout)
    return output


def _weights(grouping: Grouping, component: int, layout: _Layout) -> FloatArray:
    """Return the fraction of a stream's tuples that each executor of the consuming component receives.

    `all` sends a copy to every task, `global` everything to the lowest task. Every other grouping is taken as
    even over tasks: for `local_or_shuffle` that is an upper bound of the traffic between hosts, for `fields`,
    `direct` and custom groupings the best guess while nothing is measured.
    """
    if grouping is Grouping.ALL:
        return layout.tasks[component]
    if grouping is Grouping.GLOBAL:
        weights = np.zeros(len(layout.members[component]))
        # Executors come in ascending order of their first task.
        weights[:1] = 1.0
        return weights
    return layout.share[component]


def _sent(edge: _Edge, topology: Topology, output: Sequence[FloatArray], layout: _Layout) -> FloatArray:
    """Return the tuples per second that each executor of an edge's source sends over it."""
    if not edge.stream_id.startswith("__ack") or _is_user(topology, edge.source, edge.target):
        return output[edge.source]
    if edge.stream_id not in (ACK_INIT, ACK_ACK):
        # Failures and timeouts: none while the topology is well.
        return np.zeros(len(layout.members[edge.source]))
    if topology.component_kinds[edge.source] is ComponentKind.ACKER:
        # One message per tree of tuples, back to the spout that began it.
        return layout.share[edge.source] * float(output[edge.target].sum())
    return output[edge.source]


def _received_by(
    edge: _Edge, topology: Topology, output: Sequence[FloatArray], layout: _Layout
) -> FloatArray:
    total = float(output[edge.target].sum())
    if topology.component_kinds[edge.source] is ComponentKind.ACKER and total > 0:
        return np.asarray(output[edge.target] / total, dtype=np.float64)
    return _weights(edge.grouping, edge.target, layout)


def _pairs(sent: FloatArray, weight: FloatArray, most: int) -> Iterator[tuple[int, int, float]]:
    """Yield (source, target, rate) for one edge, positions within the two components; rates above 0 only.

    Every source sends to every target in proportion, unless that makes more than `most` pairs: then a sparse
    set of pairs (at most sources + targets - 1) carries the same totals per source and per target, found by
    walking both lists in parallel (the north-west corner rule of transport problems).
    """
    sources, targets = np.flatnonzero(sent > 0), np.flatnonzero(weight > 0)
    if len(sources) * len(targets) <= most:
        for source in sources.tolist():
            for target in targets.tolist():
                yield source, target, float(sent[source] * weight[target])
        return
    supply = sent[sources] * weight.sum()
    need = weight[targets] * sent.sum()
    i = j = 0
    left, open_ = float(supply[0]), float(need[0])
    while True:
        amount = min(left, open_)
        # Differences of rounding must not become streams of their own.
        if amount > 1e-12 * max(float(supply[i]), float(need[j])):
            yield int(sources[i]), int(targets[j]), amount
        left, open_ = left - amount, open_ - amount
        if left <= open_:
            i += 1
            if i == len(sources):
                return
            left = float(supply[i])
        else:
            j += 1
            if j == len(targets):
                return
            open_ = float(need[j])
