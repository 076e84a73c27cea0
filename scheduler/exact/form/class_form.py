"""The problem over classes of exchangeable operators: how many of each class run on each node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.base.graph import topological_order
from scheduler.base.work import require_time
from scheduler.evaluation.linear_form import LinearForm, linear_form
from scheduler.exact.form.classes import exchangeable_classes
from scheduler.model.capacity import fits, most_members

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.constraints.linear import LinearRows
    from scheduler.model.graphs import Graphs
    from scheduler.model.problem import Problem

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Relative error of sums that are put together in many small steps."""


@dataclass(frozen=True, eq=False)
class Edge:
    """All streams between two classes; every member of one is joined alike with every member of the other.

    Attributes:
        source: Class of the one end.
        target: Class of the other; if critical, results flow from source to target.
        cost: (n_nodes, n_nodes) what one pair of members adds to F, source in rows; None if nothing.
        critical: Whether the pairs lie on paths that count for response time.
    """

    source: int
    target: int
    cost: FloatArray | None
    critical: bool


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rules of a problem as far as rows can state them; class i of its form is operator i alone.

    Attributes:
        rows: Per rule that can be stated.
        unstated: Kinds of the others: a form without them is a relaxation.
        ends: (n_streams, 2) sources and targets of the streams.
    """

    rows: tuple[LinearRows, ...]
    unstated: tuple[str, ...]
    ends: IntArray

    @staticmethod
    def of(problem: Problem) -> SideRows | None:
        """Return the rows, None if the problem has no rules."""
        if not problem.rules:
            return None
        application = problem.application
        stated = [(rule.kind, rule.rows()) for rule in problem.rules]
        return SideRows(
            rows=tuple(rows for _, rows in stated if rows is not None),
            unstated=tuple(dict.fromkeys(kind for kind, rows in stated if rows is None)),
            ends=np.column_stack([application.stream_source, application.stream_target]),
        )

    @property
    def charges_use(self) -> bool:
        """Whether a row charges nodes in use."""
        return any(rows.used is not None for rows in self.rows)

    @property
    def charging(self) -> BoolArray:
        """(n_streams,) which streams charge a row by their link."""
        charging = np.zeros(len(self.ends), dtype=np.bool_)
        for rows in self.rows:
            if rows.links is not None:
                charging |= rows.links.weight > 0
        return charging


@dataclass(frozen=True, eq=False)
class ClassForm:
    """F and constraints of a problem in counts n_(c,u) of the members of class c on node u.

    Attributes:
        classes: Operators per class.
        size: (n_classes,) members.
        constant: What belongs to no decision.
        response_factor: F per ms of R.
        unary: (n_classes, n_nodes) what one member adds to F.
        execution_ms: (n_classes, n_nodes) time of one member.
        edges: One per pair of joined classes.
        order: Classes in topological order of the critical edges.
        demand: (n_classes, n_resources) of one member.
        capacity: (n_nodes, n_resources).
        slots: (n_classes, n_nodes) how many members an otherwise empty node takes, 0 where not allowed.
        delay_ms: (n_nodes, n_nodes).
        graphs: Which classes belong together; R is the mean over the graphs of their longest paths.
        side: What else constrains placements; None if nothing does.
        set_up: (n_nodes,) what a node in use adds to F; None if none adds any.
    """

    classes: tuple[IntArray, ...]
    size: IntArray
    constant: float
    response_factor: float
    unary: FloatArray
    execution_ms: FloatArray
    edges: tuple[Edge, ...]
    order: tuple[int, ...]
    demand: FloatArray
    capacity: FloatArray
    slots: IntArray
    delay_ms: FloatArray
    graphs: Graphs
    side: SideRows | None = None
    set_up: FloatArray | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.capacity)

    @property
    def rounding(self) -> float:
        """How far sums of F's terms, in whatever order, may be off by rounding.

        Where ranges are far narrower than the metrics, terms much larger than F cancel.
        """
        largest = abs(self.constant) + float(self.size @ np.abs(self.unary).max(axis=1, initial=0.0))
        if self.set_up is not None:
            largest += float(np.abs(self.set_up).sum())
        for edge in self.edges:
            if edge.cost is not None:
                pairs = float(self.size[edge.source] * self.size[edge.target])
                largest += pairs * float(np.abs(edge.cost).max())
        longest_ms = float(self.execution_ms.max(axis=1).sum() + self.n_classes * self.delay_ms.max())
        return float(ROUNDING * (largest + self.response_factor * longest_ms))

    def placement(self, counts: IntArray) -> IntArray:
        """Return (n_ops,) a placement with these counts (n_classes, n_nodes), nodes in ascending order."""
        placement = np.full(int(self.size.sum()), -1, dtype=np.int64)
        for members, row in zip(self.classes, counts, strict=True):
            placement[members] = np.repeat(np.arange(self.n_nodes), row)
        return placement

    def placement_at(self, at: IntArray) -> IntArray:
        """Return (n_ops, ...) placements whose classes, of one member each, are on nodes (n_classes, ...)."""
        placement = np.empty_like(at)
        placement[np.concatenate(self.classes)] = at
        return placement

    def restricted(self, nodes: IntArray, deadline: Deadline = NO_DEADLINE) -> ClassForm:
        """Return the form on some of the nodes, in the order given, without side rows.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        block = np.ix_(nodes, nodes)
        edges = []
        for edge in self.edges:
            require_time(deadline)
            edges.append(replace(edge, cost=None if edge.cost is None else edge.cost[block]))
        return replace(
            self,
            unary=self.unary[:, nodes],
            execution_ms=self.execution_ms[:, nodes],
            edges=tuple(edges),
            side=None,
            set_up=None if self.set_up is None else self.set_up[nodes],
            capacity=self.capacity[nodes],
            slots=self.slots[:, nodes],
            delay_ms=self.delay_ms[block],
        )


def class_form(problem: Problem, deadline: Deadline = NO_DEADLINE) -> ClassForm:
    """Return the class form of a problem.

    Memory: O(n_nodes^2) per pair of joined classes whose streams add to F by their links.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    require_time(deadline)
    form = linear_form(problem)
    classes = exchangeable_classes(problem, form)
    heads = np.array([members[0] for members in classes])
    size = np.array([len(members) for members in classes])
    demand = problem.demand[heads]
    side = SideRows.of(problem)
    edges = _edges(problem, form, classes, deadline, None if side is None else side.charging)
    critical = [(edge.source, edge.target) for edge in edges if edge.critical]
    return ClassForm(
        classes=classes,
        size=size,
        constant=form.constant,
        response_factor=form.response_factor,
        unary=form.unary[heads],
        execution_ms=problem.execution_ms[heads],
        edges=edges,
        order=tuple(topological_order(len(classes), critical)),
        demand=demand,
        capacity=problem.capacity,
        slots=_slots(problem.allowed[heads], demand, problem.capacity, size),
        delay_ms=problem.network.delay_ms,
        graphs=problem.application.graphs.chosen(heads),
        side=side,
        set_up=form.set_up,
    )


def _slots(allowed: BoolArray, demand: FloatArray, capacity: FloatArray, size: IntArray) -> IntArray:
    most = np.minimum(most_members(demand[:, None, :], capacity[None, :, :]), size[:, None])
    usable = allowed & fits(demand[:, None, :], capacity[None, :, :])
    return np.where(usable, np.maximum(most, 1.0), 0.0).astype(np.int64)


def _edges(
    problem: Problem,
    form: LinearForm,
    classes: tuple[IntArray, ...],
    deadline: Deadline,
    charging: BoolArray | None,
) -> tuple[Edge, ...]:
    application = problem.application
    class_of = np.zeros(problem.n_ops, dtype=np.int64)
    for c, members in enumerate(classes):
        class_of[members] = c
    heads = {int(members[0]) for members in classes}
    streams: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    critical: set[tuple[int, int]] = set()
    for s, (i, j) in enumerate(application.edges()):
        if i not in heads or j not in heads or i == j:
            continue  # the streams of the first members stand for those of all
        ends = (int(class_of[i]), int(class_of[j]))
        streams.setdefault((min(ends), max(ends)), []).append((s, ends[0] < ends[1]))
        if application.critical[s] and form.response_factor > 0:
            critical.add(ends)
    edges = []
    for (low, high), between in streams.items():
        require_time(deadline)
        cost = np.zeros((problem.n_nodes, problem.n_nodes))
        for term in form.pairs:
            ahead = sum(float(term.weight[s]) for s, forward in between if forward)
            back = sum(float(term.weight[s]) for s, forward in between if not forward)
            cost += ahead * term.table.matrix() + back * term.table.matrix().T
        backward = (high, low) in critical
        is_critical = backward or (low, high) in critical
        ends = (high, low) if backward else (low, high)
        priced = cost.any()
        charges = charging is not None and charging[[s for s, _ in between]].any()
        if priced or is_critical or charges:
            edges.append(Edge(*ends, (cost.T if backward else cost) if priced else None, is_critical))
    return tuple(edges)
