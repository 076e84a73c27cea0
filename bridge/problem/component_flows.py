"""What flows between the components of a topology, and how their executors share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.flows import Edge, Flow, FlowDealer, Layout, user_components
from bridge.readings.rates import UNMEASURED
from scheduler.base.graph import break_cycles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.readings.rates import Executors, MeasuredRates
    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import FloatArray

# An acknowledgement carries two 8-byte ids and its framing, whatever the size of the tuple that it speaks of.
ACK_BYTES = 24.0


@dataclass(frozen=True, eq=False)
class ComponentFlows:
    """The flows of one topology.

    Attributes:
        layout: Executors by component.
        edges: Subscriptions.
        flows: The tuples of each.
        tuple_bytes: (n_edges,) size of these.
        feedback: Names of the component pairs whose streams close a cycle.
        executors: What single executors do by measurements.
        usual_bytes: Size of tuples of which nothing is known.
    """

    layout: Layout
    edges: tuple[Edge, ...]
    flows: tuple[Flow, ...]
    tuple_bytes: FloatArray
    feedback: tuple[tuple[str, str], ...]
    executors: Executors
    usual_bytes: float

    def emitted(self, component: int) -> tuple[FloatArray, float]:
        """Return tuples per second of each executor to the component that gets most, and their size."""
        own = [k for k, edge in enumerate(self.edges) if edge.critical and edge.source == component]
        by_target: dict[int, FloatArray] = {}
        none = np.zeros(len(self.layout.members[component]))
        for k in own:
            flow, target = self.flows[k], self.edges[k].target
            by_target[target] = by_target.get(target, none) + flow.sent * flow.weight.sum()
        return np.max([none, *by_target.values()], axis=0), self._mean_bytes(own)

    def taken(self, component: int) -> tuple[FloatArray, float]:
        """Return tuples per second that each executor takes, and their size."""
        own = [k for k, edge in enumerate(self.edges) if edge.critical and edge.target == component]
        total = np.zeros(len(self.layout.members[component]))
        for k in own:
            total += self.flows[k].sent.sum() * self.flows[k].weight
        return total, self._mean_bytes(own)

    def _mean_bytes(self, edges: list[int]) -> float:
        sent = np.array([self.flows[k].sent.sum() * self.flows[k].weight.sum() for k in edges])
        return float(sent @ self.tuple_bytes[edges] / sent.sum()) if sent.sum() > 0 else self.usual_bytes


def component_flows(
    topology: Topology,
    settings: PlanSettings,
    declared: Mapping[str, float] | None = None,
    measured: MeasuredRates = UNMEASURED,
    declared_bytes: Mapping[str, float] | None = None,
) -> ComponentFlows:
    """Deal the rates of a topology's streams out to its executors.

    Args:
        topology: Components, streams and executors.
        settings: Unit rate and tuple size where nothing better is known.
        declared: Declared tuples per second on each output stream of a component, by its name.
        measured: Measured rates.
        declared_bytes: Declared size of the tuples that a component emits, by its name.
    """
    layout = _layout(topology)
    edges, feedback = _edges(topology)
    executors = measured.executors(topology)
    flows = FlowDealer(
        topology,
        edges,
        layout,
        unit_rate=settings.unit_rate,
        declared=declared or {},
        measured=measured,
        executors=executors,
    ).flows()
    usual = dict.fromkeys(topology.component_names, settings.tuple_bytes) | dict(declared_bytes or {})
    sizes = [
        flow.tuple_bytes
        if flow.tuple_bytes is not None
        else (
            ACK_BYTES if edge.stream_id.startswith("__ack") else usual[topology.component_names[edge.source]]
        )
        for edge, flow in zip(edges, flows, strict=True)
    ]
    return ComponentFlows(
        layout, edges, flows, np.array(sizes, dtype=np.float64), feedback, executors, settings.tuple_bytes
    )


def _layout(topology: Topology) -> Layout:
    component = np.array(topology.executor_component, dtype=np.int64)
    tasks = np.array(topology.executor_last_task, dtype=np.float64) - topology.executor_first_task + 1.0
    members = tuple(np.flatnonzero(component == index) for index in range(len(topology.component_names)))
    by_component = tuple(tasks[index] for index in members)
    return Layout(
        members, by_component, tuple(count / count.sum() if count.size else count for count in by_component)
    )


def _edges(topology: Topology) -> tuple[tuple[Edge, ...], tuple[tuple[str, str], ...]]:
    """Return all subscriptions and the pairs of components whose subscriptions are feedback."""
    pairs = list(zip(topology.stream_from, topology.stream_to, strict=True))
    own = user_components(topology)
    user = [index for index, pair in enumerate(pairs) if own.issuperset(pair)]
    feedback = {
        user[k] for k in break_cycles(len(topology.component_names), [pairs[index] for index in user])
    }
    ordinary = set(user) - feedback
    edges = tuple(
        Edge(source, target, topology.stream_groupings[index], topology.stream_ids[index], index in ordinary)
        for index, (source, target) in enumerate(pairs)
    )
    names = topology.component_names
    return edges, tuple(sorted({(names[pairs[k][0]], names[pairs[k][1]]) for k in feedback}))
