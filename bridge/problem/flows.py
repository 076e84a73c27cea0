"""How many tuples flow over each edge of a topology, and how they are dealt out to executors.

Each edge takes the best source that it has: what its consumer was measured to take, else what its source was
measured to emit, else what is declared, else unit rates. Without any measurement a spout executor emits at a
unit rate, and a component passes on, on each of its streams, as many tuples as it receives (selectivity 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.wire.messages import ComponentKind, Grouping
from scheduler.base.graph import topological_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.readings.rates import Executors, MeasuredRates
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import FloatArray, IntArray

ACK_INIT = "__ack_init"
ACK_ACK = "__ack_ack"
# Groupings by the content of tuples or the will of the sender: only counters know their shares.
_UNEVEN = (Grouping.FIELDS, Grouping.DIRECT, Grouping.CUSTOM)


@dataclass(frozen=True, eq=False)
class Layout:
    """Executors by component: index lists, number of tasks, share of the component's tasks."""

    members: tuple[IntArray, ...]
    tasks: tuple[FloatArray, ...]
    share: tuple[FloatArray, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """One subscription between two components, `critical` if it lies on source-to-sink paths."""

    source: int
    target: int
    grouping: Grouping
    stream_id: str
    critical: bool


@dataclass(frozen=True, eq=False)
class Flow:
    """The tuples of one edge.

    Attributes:
        sent: (n_sources,) tuples per second that each executor of the source sends, copies counted once.
        weight: (n_targets,) fraction of them that each executor of the target gets; the number of its tasks
            where each task gets a copy that `sent` does not count.
        tuple_bytes: Measured mean size of a tuple, None without it.
    """

    sent: FloatArray
    weight: FloatArray
    tuple_bytes: float | None = None


def even_or_share(values: FloatArray, tasks: FloatArray) -> FloatArray:
    """Return the share of each executor in what its component does.

    Args:
        values: (n,) what each executor does, NaN where it is not known: it then does, by task, as much as the
            others.
        tasks: (n,) its tasks.

    Returns:
        (n,) shares with the sum 1; by tasks if nothing is known or done.
    """
    unknown = np.isnan(values)
    known_tasks = tasks[~unknown].sum()
    per_task = values[~unknown].sum() / known_tasks if known_tasks > 0 else 0.0
    if per_task <= 0.0:
        return np.asarray(tasks / tasks.sum(), dtype=np.float64)
    filled = np.where(unknown, per_task * tasks, values)
    return np.asarray(filled / filled.sum(), dtype=np.float64)


class FlowDealer:
    """One topology at work.

    Args:
        topology: Components, streams and executors.
        edges: Subscriptions; the critical ones form no cycle.
        layout: Executors by component.
        unit_rate: Tuples per second of a spout executor of which nothing else is known.
        declared: Tuples per second on each output stream of a component, by name.
        measured: What was measured, `UNMEASURED` without it.
        executors: What single executors do by that.
    """

    def __init__(
        self,
        topology: Topology,
        edges: Sequence[Edge],
        layout: Layout,
        *,
        unit_rate: float,
        declared: Mapping[str, float],
        measured: MeasuredRates,
        executors: Executors,
    ) -> None:
        self._topology = topology
        self._user = user_components(topology)
        self._edges = edges
        self._layout = layout
        self._unit_rate = unit_rate
        self._declared = declared
        self._measured = measured
        self._executors = executors
        count = len(topology.component_names)
        self._received = [np.zeros(len(layout.members[component])) for component in range(count)]
        self._output: list[FloatArray] = []

    def flows(self) -> tuple[Flow, ...]:
        """Return the flow of each edge: follow the tuples down, then take the edges that lie on no path."""
        forward = [edge for edge in self._edges if edge.critical]
        fed = {edge.target for edge in forward}
        count = len(self._topology.component_names)
        self._output = [self._emission(component, fed) for component in range(count)]
        incoming: list[list[Edge]] = [[] for _ in range(count)]
        for edge in forward:
            incoming[edge.target].append(edge)
        for component in topological_order(count, [(edge.source, edge.target) for edge in forward]):
            for edge in incoming[component]:
                flow = self._flow(edge)
                self._received[component] += flow.sent.sum() * flow.weight
            if component in fed:
                self._output[component] = self._passed_on(component)
            else:
                self._received[component] = self._output[component]
        return tuple(self._flow(edge) for edge in self._edges)

    def _emission(self, component: int, fed: set[int]) -> FloatArray:
        """Return what each executor of a component without input emits on each of its streams."""
        if component not in self._user or component in fed:
            return np.zeros(len(self._layout.members[component]))
        name = self._topology.component_names[component]
        streams = {edge.stream_id for edge in self._edges if edge.source == component and edge.critical}
        emitted = self._measured.emitted
        rates = [emitted[name, stream] for stream in sorted(streams) if (name, stream) in emitted]
        if rates:
            # Each tuple on whatever stream begins a tree of its own.
            return self._sources_share(component) * sum(rates)
        share = self._layout.share[component]
        if name in self._declared:
            return share * self._declared[name]
        # A bolt without input is driven by Storm's clock: it emits on its own like a spout.
        return share * (self._unit_rate * len(share))

    def _passed_on(self, component: int) -> FloatArray:
        """Return what each executor of a component with input emits on each of its streams."""
        received = self._received[component]
        declared = self._declared.get(self._topology.component_names[component])
        if declared is None:
            return received
        return declared * even_or_share(received, self._layout.tasks[component])

    def _flow(self, edge: Edge) -> Flow:
        names = self._topology.component_names
        source, target = names[edge.source], names[edge.target]
        taken = self._measured.taken.get((source, edge.stream_id, target))
        if taken is not None:
            sent = self._sources_share(edge.source) * self._at_least(edge, taken.rate)
            return Flow(sent, self._targets_share(edge), taken.tuple_bytes)
        emitted = self._measured.emitted.get((source, edge.stream_id))
        if emitted is not None:
            sent = self._sources_share(edge.source) * self._at_least(edge, emitted)
            return Flow(sent, self._weights(edge))
        return Flow(self._sent(edge), self._received_by(edge))

    def _at_least(self, edge: Edge, rate: float) -> float:
        """Keep a rare stream on the critical path: what was not counted once may still be a tuple."""
        return max(rate, self._measured.least_rate if edge.critical else 0.0)

    def _sources_share(self, component: int) -> FloatArray:
        """Return the share of each executor in what its component sends."""
        return self._measured_share(component, self._executors.emitted)

    def _measured_share(self, component: int, rates: FloatArray) -> FloatArray:
        """Return the share of each executor in what its component takes or emits.

        No share is zero: an executor of which nothing was counted may still get a tuple now and then, and
        where it runs then matters.
        """
        tasks = self._layout.tasks[component]
        least = self._measured.least_rate * tasks
        return even_or_share(np.maximum(rates[self._layout.members[component]], least), tasks)

    def _targets_share(self, edge: Edge) -> FloatArray:
        """Return the share of each executor of the target in what its component takes over an edge."""
        if self._topology.component_kinds[edge.source] is ComponentKind.ACKER:
            return self._sources_share(edge.target)
        if edge.grouping is Grouping.ALL:
            return self._layout.share[edge.target]
        if edge.grouping in _UNEVEN:
            return self._measured_share(edge.target, self._executors.executed)
        return self._weights(edge)

    def _weights(self, edge: Edge) -> FloatArray:
        """Return the part of an edge's tuples that each executor of the target gets, by grouping alone.

        `all` sends a copy to every task, `global` all to the lowest task. Every other grouping is taken
        as even over tasks: for `local_or_shuffle` that is an upper bound of the traffic between hosts, for
        `fields`, `direct` and custom groupings the best guess while nothing is measured.
        """
        if edge.grouping is Grouping.ALL:
            return self._layout.tasks[edge.target]
        if edge.grouping is Grouping.GLOBAL:
            weights = np.zeros(len(self._layout.members[edge.target]))
            # Executors come in ascending order of their first task.
            weights[:1] = 1.0
            return weights
        return self._layout.share[edge.target]

    def _sent(self, edge: Edge) -> FloatArray:
        """Return the tuples per second that each executor of an edge's source sends over it, unmeasured."""
        if not edge.stream_id.startswith("__ack") or {edge.source, edge.target} <= self._user:
            return self._output[edge.source]
        if edge.stream_id == ACK_INIT:
            return self._output[edge.source]
        if edge.stream_id != ACK_ACK:
            # Failures and timeouts: none while the topology is well.
            return np.zeros(len(self._layout.members[edge.source]))
        if self._topology.component_kinds[edge.source] is ComponentKind.ACKER:
            # One message per tree of tuples, back to the spout that began it.
            return self._layout.share[edge.source] * float(self._output[edge.target].sum())
        return self._received[edge.source]

    def _received_by(self, edge: Edge) -> FloatArray:
        total = float(self._output[edge.target].sum())
        if self._topology.component_kinds[edge.source] is ComponentKind.ACKER and total > 0:
            return np.asarray(self._output[edge.target] / total, dtype=np.float64)
        return self._weights(edge)


def user_components(topology: Topology) -> frozenset[int]:
    """Return the components that are the user's own."""
    own = (ComponentKind.SPOUT, ComponentKind.BOLT)
    return frozenset(component for component, kind in enumerate(topology.component_kinds) if kind in own)
