"""The application G_dsp: operators joined by streams (paper 000, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, floats, frozen, ints
from scheduler.base.checks import ModelError, name, number, one_of, quantities, shown, unique
from scheduler.base.graph import find_cycle, topological_order
from scheduler.base.quantities import check_quantities, quantities_of, quantity
from scheduler.model.graphs import Graphs
from scheduler.model.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Mapping

import numpy as np

ROLES = ("source", "operator", "sink")
"""What an operator is: where data comes from, what works on it, or where results go (paper 002)."""
ONLY_GRAPH = "default"
"""The graph of operators that name none."""


@dataclass(frozen=True)
class Operator:
    """An operator i of V_dsp; in Storm, one executor.

    Attributes:
        name: Unique within the application.
        execution_time_ms: R_i, time per tuple on a node of speed-up 1 (>= 0).
        demand: C_i by resource name (>= 0), such as ``{"slots": 1}``.
        allowed: V_res^i as names of nodes; None means every node, one name is a pin, none at all makes
            the problem infeasible.
        image_mb: s_i of paper 001, loaded by a node to which the operator comes (>= 0).
        state_mb: State that comes with it (>= 0).
        duration_max_ms: T_max,i of paper 001, limit of the time per tuple with waiting (>= 0); 0 is none.
        actual_ms: T_actual,i, that time as measured (>= 0); 0: it was not.
        actual_speedup: S_i, speed-up of the node where it was measured (>= 0); 0: not known.
        graph: Name of the topology that it belongs to.
        role: One of `ROLES`; None: it follows from where it may run and what streams it has
            (`Application.terminal`).
        placement_cost: p_ov of paper 002, what it costs on every node, or on some by their names (>= 0);
            None, and on nodes that are not named: what it demands of the resource `load`, at the node's
            `unit_cost`.
    """

    name: str
    execution_time_ms: float = quantity(0.0)
    demand: Mapping[str, float] = field(default_factory=lambda: {"slots": 1.0})
    allowed: tuple[str, ...] | None = None
    image_mb: float = quantity(0.0)
    state_mb: float = quantity(0.0)
    duration_max_ms: float = quantity(0.0)
    actual_ms: float = quantity(0.0)
    actual_speedup: float = quantity(0.0)
    graph: str = ONLY_GRAPH
    role: str | None = None
    placement_cost: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        name("name", self.name)
        if self.graph is not ONLY_GRAPH:
            name("graph", self.graph)
        check_quantities(self)
        object.__setattr__(self, "demand", quantities("demand", self.demand))
        if self.allowed is not None:
            checked = tuple(name(f"allowed[{k}]", each) for k, each in enumerate(self.allowed))
            object.__setattr__(self, "allowed", checked)
        if self.role is not None:
            one_of("role", self.role, ROLES)
        if isinstance(self.placement_cost, dict):
            object.__setattr__(self, "placement_cost", quantities("placement_cost", self.placement_cost))
        elif self.placement_cost is not None:
            object.__setattr__(self, "placement_cost", number("placement_cost", self.placement_cost))


OPERATOR_QUANTITIES = quantities_of(Operator)
"""What operators have a number of; an application has a vector (n_ops,) of each, under its name."""


@dataclass(frozen=True)
class Stream:
    """A stream (i, j) of E_dsp; several may join the same two operators.

    Attributes:
        source: Name of operator i.
        target: Name of operator j.
        rate: lambda_(i,j), tuples per second (>= 0).
        tuple_bytes: Mean size of a tuple (>= 0).
        link_weight: Factor of what its link costs (>= 0), such as its share of a stream between components.
        critical: False for traffic that lies on no source-to-sink path, such as acknowledgements and
            feedback: it counts for availability, network usage and mean delay, not for response time.
    """

    source: str
    target: str
    rate: float = quantity(1.0)
    tuple_bytes: float = quantity(1.0)
    critical: bool = True
    link_weight: float = quantity(1.0)

    def __post_init__(self) -> None:
        name("from", self.source)
        name("to", self.target)
        check_quantities(self)
        if not isinstance(self.critical, bool):
            raise ModelError("critical", f"expected true or false, got {shown(self.critical)}")


@dataclass(frozen=True, eq=False)
class Incidence:
    """The streams at every operator, but for those to itself, which never leave its node.

    Attributes:
        begins: (n_ops + 1,) where the entries of each operator begin.
        stream: (n_entries,) index of the stream.
        partner: (n_entries,) operator at its other end.
        incoming: (n_entries,) whether it leads to the operator, not from it.
    """

    begins: IntArray
    stream: IntArray
    partner: IntArray
    incoming: BoolArray

    def of(self, operators: IntArray) -> tuple[IntArray, IntArray]:
        """Return the entries of some operators (k,), one's after the other's, and the operator's position."""
        degree = self.begins[operators + 1] - self.begins[operators]
        owner = np.repeat(np.arange(len(operators)), degree)
        first = self.begins[operators] - (np.cumsum(degree) - degree)
        return np.arange(len(owner)) + np.repeat(first, degree), owner


@dataclass(frozen=True, eq=False)
class Application:
    """The operators to place, of one graph or of several; critical streams form no cycle.

    Attributes:
        operators: At least one.
        streams: Any number.
        index: Position of each operator by name.
        execution_time_ms: (n_ops,) R_i.
        image_mb: (n_ops,) s_i.
        state_mb: (n_ops,) state of each operator.
        duration_max_ms: (n_ops,) T_max,i, 0 where there is none.
        actual_ms: (n_ops,) T_actual,i, 0 where it is not known.
        actual_speedup: (n_ops,) S_i, likewise.
        stream_source: (n_streams,) index of operator i.
        stream_target: (n_streams,) index of operator j.
        rate: (n_streams,) lambda_(i,j), tuples per second.
        tuple_bytes: (n_streams,) bytes per tuple.
        link_weight: (n_streams,) factor of what links cost.
        critical: (n_streams,) whether the stream counts for response time.
        graphs: Which operators belong together.
        order: (n_ops,) operators in topological order of the critical streams.
        critical_streams: Indices of the critical streams, in topological order of their sources.
    """

    operators: tuple[Operator, ...]
    streams: tuple[Stream, ...] = ()
    index: Mapping[str, int] = field(init=False, repr=False)
    execution_time_ms: FloatArray = field(init=False, repr=False)
    image_mb: FloatArray = field(init=False, repr=False)
    state_mb: FloatArray = field(init=False, repr=False)
    duration_max_ms: FloatArray = field(init=False, repr=False)
    actual_ms: FloatArray = field(init=False, repr=False)
    actual_speedup: FloatArray = field(init=False, repr=False)
    stream_source: IntArray = field(init=False, repr=False)
    stream_target: IntArray = field(init=False, repr=False)
    rate: FloatArray = field(init=False, repr=False)
    tuple_bytes: FloatArray = field(init=False, repr=False)
    link_weight: FloatArray = field(init=False, repr=False)
    critical: BoolArray = field(init=False, repr=False)
    graphs: Graphs = field(init=False, repr=False)
    order: IntArray = field(init=False, repr=False)
    critical_streams: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        def put(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        put("operators", tuple(self.operators))
        put("streams", tuple(self.streams))
        if not self.operators:
            raise ModelError("operators", "expected at least one operator")
        put("index", unique("operators", [operator.name for operator in self.operators]))
        for each in OPERATOR_QUANTITIES:
            put(each, floats([getattr(operator, each) for operator in self.operators]))
        put("stream_source", self._ends("from", [stream.source for stream in self.streams]))
        put("stream_target", self._ends("to", [stream.target for stream in self.streams]))
        put("rate", floats([stream.rate for stream in self.streams]))
        put("tuple_bytes", floats([stream.tuple_bytes for stream in self.streams]))
        put("link_weight", floats([stream.link_weight for stream in self.streams]))
        put("critical", frozen(np.array([stream.critical for stream in self.streams], dtype=np.bool_)))
        put("graphs", Graphs.of(operator.graph for operator in self.operators))
        self._check_graphs()
        order = ints(self._ordered())
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        critical = np.flatnonzero(self.critical)
        by_source = np.argsort(position[self.stream_source[critical]], kind="stable")
        put("order", order)
        put("critical_streams", frozen(critical[by_source]))

    @cached_property
    def levels(self) -> Levels:
        """The critical streams prepared for longest paths."""
        count = len(self.operators)
        return Levels.of(count, self.stream_source, self.stream_target, self.critical_streams)

    @cached_property
    def incidence(self) -> Incidence:
        """The streams by the operators at both of their ends."""
        source, target = self.stream_source, self.stream_target
        streams = np.flatnonzero(source != target)
        ends = np.concatenate([target[streams], source[streams]])
        order = np.argsort(ends, kind="stable")
        return Incidence(
            begins=np.searchsorted(ends[order], np.arange(len(self.operators) + 1)),
            stream=np.concatenate([streams, streams])[order],
            partner=np.concatenate([source[streams], target[streams]])[order],
            incoming=order < len(streams),
        )

    @cached_property
    def terminal(self) -> BoolArray:
        """(n_ops,) which operators are sources and sinks: by their role, else pinned ones where a graph ends.

        A pinned operator without a stream that comes in is a source, one without a stream that goes out a
        sink.
        """
        count = len(self.operators)
        apart = self.stream_source != self.stream_target
        leaves = np.bincount(self.stream_source[apart], minlength=count) > 0
        comes = np.bincount(self.stream_target[apart], minlength=count) > 0
        pinned = np.array([each.allowed is not None and len(each.allowed) == 1 for each in self.operators])
        stated = [each.role for each in self.operators]
        unstated = np.array([role is None for role in stated])
        named = np.array([role in ("source", "sink") for role in stated])
        return frozen(named | (unstated & pinned & ~(leaves & comes)))

    def _ends(self, end: str, names: list[str]) -> IntArray:
        try:
            return ints([self.index[each] for each in names])
        except KeyError:
            k = next(k for k, each in enumerate(names) if each not in self.index)
            message = f"{shown(names[k])} is not an operator"
            raise ModelError(f"streams[{k}].{end}", message) from None

    def _check_graphs(self) -> None:
        graph = self.graphs.member
        for k in np.flatnonzero(graph[self.stream_source] != graph[self.stream_target])[:1].tolist():
            start, end = (self.graphs.names[graph[i]] for i in (self.stream_source[k], self.stream_target[k]))
            message = f"joins graph {shown(start)} with graph {shown(end)}: a stream stays within one"
            raise ModelError(f"streams[{k}]", message)

    def edges(self) -> list[tuple[int, int]]:
        """Return the pairs (source, target) of all streams, in their order."""
        return list(zip(self.stream_source.tolist(), self.stream_target.tolist(), strict=True))

    def critical_ends(self) -> IntArray:
        """Return (n_critical, 2) source and target of the critical streams, in the order of the streams."""
        return np.column_stack([self.stream_source, self.stream_target])[self.critical]

    def critical_edges(self) -> list[tuple[int, int]]:
        """Return the pairs (source, target) of the critical streams, in the order of the streams."""
        return [(source, target) for source, target in self.critical_ends().tolist()]

    def _ordered(self) -> list[int]:
        order = topological_order(len(self.operators), self.critical_ends())
        if len(order) < len(self.operators):
            cycle = find_cycle(len(self.operators), self.critical_edges())
            names = [self.operators[i].name for i in [*cycle, cycle[0]]]
            raise ModelError(
                "streams",
                f"critical streams form a cycle: {' -> '.join(names)} (a feedback stream is not critical)",
            )
        return order
