"""A topology's executors as the operators of an application, and the streams between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bridge.problem.component_flows import component_flows
from bridge.problem.flows import Edge, Flow, Layout, user_components
from bridge.readings.rates import UNMEASURED
from bridge.wire.messages import Grouping
from scheduler.model.problem import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bridge.problem.component_flows import ComponentFlows
    from bridge.readings.rates import MeasuredRates
    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import BoolArray, FloatArray

LinkCostBasis = Literal["stream", "flow", "traffic"]
"""What a stream between two executors pays the cost of a link by: its share of the stream between their
components, once, or its bytes/s."""


@dataclass(frozen=True, eq=False)
class ExecutorGraph:
    """Executors and the streams between them.

    Attributes:
        names: One per executor, `component[first task]` made unique by the task.
        streams: Streams between executors; acknowledgements, system traffic and feedback are not critical.
        feedback: Names of the component pairs whose streams close a cycle.
        execution_time_ms: (n_executors,) time per tuple on a host of speed-up 1.
        timed: (n_executors,) whether that follows from a measurement.
    """

    names: tuple[str, ...]
    streams: tuple[Stream, ...]
    feedback: tuple[tuple[str, str], ...]
    execution_time_ms: FloatArray
    timed: BoolArray


def build_executor_graph(
    topology: Topology,
    settings: PlanSettings,
    declared: Mapping[str, float] | None = None,
    measured: MeasuredRates = UNMEASURED,
    speedup: FloatArray | None = None,
    *,
    declared_ms: Mapping[str, float] | None = None,
    link_cost_basis: LinkCostBasis = "stream",
    flows: ComponentFlows | None = None,
) -> ExecutorGraph:
    """Deal the rates of a topology's streams out to its executors.

    Args:
        topology: Components, streams and executors.
        settings: Unit rate, tuple size and execution time where nothing better is known, and the number of
            pairs above which few pairs carry an edge's rate.
        declared: Declared tuples per second on each output stream of a component, by its name.
        measured: Measured rates.
        speedup: (n_executors,) that of the host where each executor was measured, NaN where it is not known;
            None if all of them are 1.
        declared_ms: Declared time per tuple of a component's executors, by its name: for components of which
            Storm measures none, such as those of other processes.
        link_cost_basis: What streams pay the cost of links by.
        flows: What flows between components, if that is known already.
    """
    dealt = component_flows(topology, settings, declared, measured) if flows is None else flows
    layout = dealt.layout
    names = tuple(
        f"{topology.component_names[component]}[{first}]"
        for component, first in zip(topology.executor_component, topology.executor_first_task, strict=True)
    )
    users = user_components(topology)
    rates: dict[tuple[int, int, bool, float], float] = {}
    weights: dict[tuple[int, int, bool, float], float] = {}
    for edge, flow, tuple_bytes in zip(dealt.edges, dealt.flows, dealt.tuple_bytes.tolist(), strict=True):
        per_tuple = _weight_per_tuple(edge, flow, link_cost_basis, tuple_bytes)
        if not {edge.source, edge.target} <= users:
            per_tuple = 0.0  # acknowledgements and metrics go where the others lead
        for i, j, rate in _pairs(flow.sent, flow.weight, settings.max_streams_per_edge):
            source = int(layout.members[edge.source][i])
            target = int(layout.members[edge.target][j])
            if source == target:
                # Tuples that an executor sends to itself never leave it.
                continue
            key = (source, target, edge.critical, tuple_bytes)
            rates[key] = rates.get(key, 0.0) + rate
            weight = rate * per_tuple if link_cost_basis != "flow" else float(per_tuple > 0)
            weights[key] = weights.get(key, 0.0) + weight
    streams = tuple(
        Stream(
            names[source],
            names[target],
            rate=rate,
            tuple_bytes=size,
            critical=critical,
            link_weight=weights[source, target, critical, size],
        )
        for (source, target, critical, size), rate in sorted(rates.items())
    )
    # A host of twice the speed takes half of the time that the model asks for.
    measured_ms = dealt.executors.execute_ms
    execute_ms = measured_ms if speedup is None else measured_ms * speedup
    times = _execution_times(execute_ms, layout)
    timed = ~np.isnan(times)
    known = declared_ms or {}
    declared_or_default = np.array(
        [known.get(name, settings.execution_time_ms) for name in topology.component_names]
    )
    otherwise = declared_or_default[np.array(topology.executor_component, dtype=np.int64)]
    return ExecutorGraph(names, streams, dealt.feedback, np.where(timed, times, otherwise), timed)


def _weight_per_tuple(edge: Edge, flow: Flow, basis: LinkCostBasis, tuple_bytes: float) -> float:
    """Return what a tuple per second between two executors adds to the weight of their stream."""
    if basis == "traffic":
        return tuple_bytes
    total = float(flow.sent.sum() * flow.weight.sum())
    # to all: each executor of the target gets a whole stream
    copies = np.count_nonzero(flow.weight) if edge.grouping is Grouping.ALL else 1
    return copies / total if total > 0 else 0.0


def _execution_times(measured_ms: FloatArray, layout: Layout) -> FloatArray:
    """Return (n_executors,) ms per tuple: measured, else the mean of the component, else NaN."""
    times = np.full(measured_ms.size, np.nan)
    for members in layout.members:
        own = measured_ms[members]
        known = own[~np.isnan(own)]
        if known.size:
            times[members] = np.where(np.isnan(own), known.mean(), own)
    return times


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
