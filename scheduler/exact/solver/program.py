"""The placement problem as a mixed-integer program over classes (paper 000, section 4.1 and A.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.exact.solver.model_builder import ModelBuilder
from scheduler.exact.solver.potentials import add_response
from scheduler.exact.solver.priced_rows import PricedRows
from scheduler.exact.solver.side import add_side_rows
from scheduler.model.capacity import most_members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ortools.math_opt.model_pb2 import ModelProto

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm, Edge


SCALE = 1000.0
"""Units of a solver's objective per unit of F: its absolute tolerances are then small in F."""


@dataclass(frozen=True, eq=False)
class Program:
    """A program and where its answer stands.

    Attributes:
        model: The program, for `solvers.run_highs`.
        count_columns: Per class, (k, 3) rows of (node, members per unit, variable).
        places: Variables of each class.
        links: Link variables (sources, levels, targets) by edge, of those that have some.
        used: (n_nodes,) variables of nodes in use; None if nothing charges these.
        priced: Rows whose prices say what graphs compete for.
    """

    model: ModelProto
    count_columns: tuple[IntArray, ...]
    places: tuple[Places, ...]
    links: Mapping[int, IntArray]
    used: IntArray | None
    priced: PricedRows

    @property
    def wanted(self) -> IntArray:
        """The variables that counts are made of, ascending."""
        return np.unique(np.concatenate([columns[:, 2] for columns in self.count_columns]))

    def counts(self, values: FloatArray, n_nodes: int) -> FloatArray:
        """Return (n_classes, n_nodes) how many members are where, in a solution (n_variables,)."""
        counts = np.zeros((len(self.count_columns), n_nodes))
        for c, entries in enumerate(self.count_columns):
            np.add.at(counts[c], entries[:, 0], entries[:, 1] * values[entries[:, 2]])
        return counts


@dataclass
class Places:
    """Variables of one class on the nodes open to it.

    Attributes:
        nodes: (k,) open nodes.
        level: (k, most) variable of "exactly l + 1 members are there"; or (k, 1) of the number itself.
        worth: (k, most) members that each variable stands for.
        limit: (k, most) members at most if the variable is at its upper bound.
        used: (k,) expression "some member is there" as variables to be added up, (k, m).
    """

    nodes: IntArray
    level: IntArray
    worth: FloatArray
    limit: FloatArray
    used: IntArray


def placement_program(
    form: ClassForm,
    open_places: BoolArray,
    scale: float = 1.0,
    deadline: Deadline = NO_DEADLINE,
    *,
    in_use: Sequence[int] = (),
    most: float | None = None,
) -> Program:
    """Return the program for placements on open places only.

    Link variables are in flow form: the pairs that leave a place sum up to what is there, on both sides
    (tighter than y <= x, eq. 20-22). Between two classes with several members they are split by the number of
    members at the source and bounded by the product, which makes them exact. Response time is given by
    potentials t instead of paths (eq. 16).

    Args:
        form: The problem.
        open_places: (n_classes, n_nodes) where members may be.
        scale: Units of the program's objective per unit of F.
        deadline: When to stop.
        in_use: Nodes that are in use, of a program that knows which are.
        most: F of placements is at most this, as a row; no row if not given.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    return _Writer(form, open_places & (form.slots > 0), scale, deadline).write(in_use, most)


def link_variables(form: ClassForm, open_places: BoolArray) -> int:
    """Return about how many link variables, and rows for them, the program of a form has.

    Args:
        form: The problem.
        open_places: (n_classes, n_nodes) where members may be.
    """
    places = open_places.sum(axis=1)
    levels = np.where(open_places, form.slots, 1).max(axis=1)
    several = form.size > 1
    return sum(
        int(places[edge.source] * places[edge.target])
        * (int(levels[edge.source]) if several[edge.source] and several[edge.target] else 1)
        for edge in form.edges
    )


class _Writer:
    def __init__(self, form: ClassForm, open_places: BoolArray, scale: float, deadline: Deadline) -> None:
        self.form, self.scale = form, scale
        self.open = open_places
        self.model = ModelBuilder(deadline)
        self.single = form.size == 1
        self.priced = PricedRows()

    def write(self, in_use: Sequence[int], most: float | None) -> Program:
        form = self.form
        self.places = [self._places(c) for c in range(form.n_classes)]
        used = self._used(in_use)
        self._capacities(used)
        links: dict[int, IntArray] = {}
        hops: dict[int, IntArray] = {}
        for e, edge in enumerate(form.edges):
            both_single = bool(self.single[edge.source] and self.single[edge.target])
            if edge.cost is not None or both_single:
                links[e] = self._links(edge)
                if both_single:
                    hops[e] = links[e]
        if form.side is not None:
            add_side_rows(self.model, form, form.side, self.places, hops, used=used)
        if form.response_factor > 0:
            rows = add_response(self.model, form, self.places, hops, self.scale)
            self.priced.behind, self.priced.end = rows
        count_columns = tuple(
            np.stack(
                [
                    np.repeat(place.nodes, place.level.shape[1]),
                    place.worth.ravel().astype(np.int64),
                    place.level.ravel(),
                ],
                axis=1,
            )
            for place in self.places
        )
        if most is not None:
            self.model.objective_row((most - form.constant) * self.scale)
        model = self.model.build(form.constant * self.scale)
        return Program(model, count_columns, tuple(self.places), links, used, self.priced)

    def _places(self, c: int) -> Places:
        form, model = self.form, self.model
        nodes = np.flatnonzero(self.open[c])
        slots = form.slots[c, nodes].astype(np.float64)
        cost = form.unary[c, nodes] * self.scale
        size = float(form.size[c])
        crowded = any(
            edge.cost is not None
            and c in (edge.source, edge.target)
            and not self.single[[edge.source, edge.target]].any()
            for edge in form.edges
        )
        if self.single[c] or not crowded:
            level = model.variables(slots[:, None], cost[:, None], integer=True)
            worth = np.ones(level.shape)
            model.row(size, size, (level, 1.0))
            if self.single[c] or form.response_factor == 0:
                return Places(nodes, level, worth, slots[:, None], level)
            used = model.variables(np.ones((len(nodes), 1)), np.zeros((len(nodes), 1)), integer=True)
            model.rows(len(nodes), -np.inf, 0.0, (level, 1.0), (used, -slots[:, None]))
            return Places(nodes, level, worth, slots[:, None], used)
        most = int(slots.max(initial=1))
        worth = np.broadcast_to(np.arange(1.0, most + 1), (len(nodes), most))
        level = model.variables((worth <= slots[:, None]) * 1.0, cost[:, None] * worth, integer=True)
        model.row(size, size, (level, worth))
        model.rows(len(nodes), -np.inf, 1.0, (level, 1.0))
        return Places(nodes, level, worth, worth, level)

    def _capacities(self, used: IntArray | None) -> None:
        """Add capacities where they bind; that of a node is there only while it is in use.

        So the relaxation cannot use a tenth of a node for each of ten operators that fill it.
        """
        form = self.form
        for u in range(form.n_nodes):
            here = [
                (place.level[k], place.worth[k], c)
                for c, place in enumerate(self.places)
                for k in np.flatnonzero(place.nodes == u)
            ]
            for r in range(form.capacity.shape[1]):
                asked = sum(
                    float(form.demand[c, r] * worth.max() * self.form.slots[c, u]) for _, worth, c in here
                )
                if asked > form.capacity[u, r]:
                    terms = [(level, worth * form.demand[c, r]) for level, worth, c in here]
                    most = float(form.capacity[u, r])
                    if used is None:
                        row = self.model.row(-np.inf, most, *terms)
                    else:
                        row = self.model.row(-np.inf, 0.0, *terms, (used[u : u + 1], -most))
                    self.priced.capacity[u, r] = row

    def _used(self, in_use: Sequence[int]) -> IntArray | None:
        """Add a variable per node: whether some member is there; None if that is charged nowhere."""
        charges = self.form.set_up
        if charges is None:
            if self.form.side is None or not self.form.side.charges_use:
                return None
            charges = np.zeros(self.form.n_nodes)
        low = np.zeros(len(charges))
        low[list(in_use)] = 1.0
        used = self.model.variables(np.ones(len(charges)), charges * self.scale, integer=True, low=low)
        for u in np.flatnonzero(charges < 0).tolist():  # it pays, so members have to be there
            here = [(place.level[place.nodes == u], -1.0) for place in self.places]
            self.model.row(-np.inf, 0.0, (used[u], 1.0), *here)
        for c, place in enumerate(self.places):
            shape = place.level.shape
            there = np.broadcast_to(used[place.nodes, None], shape).reshape(-1, 1)
            most = np.broadcast_to(place.limit / place.worth, shape).reshape(-1, 1)
            rows = self.model.rows(
                len(there), -np.inf, 0.0, (place.level.reshape(-1, 1), 1.0), (there, -most)
            )
            if self.single[c]:
                self.priced.place.update(
                    zip(((c, u) for u in place.nodes.tolist()), rows.tolist(), strict=True)
                )
        return used

    def _links(self, edge: Edge) -> IntArray:
        """Add the link variables of an edge, (source places, levels, target places), and their flows."""
        form, model = self.form, self.model
        start, end = self.places[edge.source], self.places[edge.target]
        pairs = np.ix_(start.nodes, end.nodes)
        cost = np.zeros((len(start.nodes), len(end.nodes))) if edge.cost is None else edge.cost[pairs]
        room = self._room(edge)  # (sources, targets): members of target beside one of source
        sizes = form.size[edge.source], form.size[edge.target]
        high = start.limit[:, :, None] * room[:, None, :]
        links = model.variables(high, cost[:, None, :] * self.scale, integer=False)
        leaving = links.reshape(start.level.size, len(end.nodes))
        level, worth = start.level.reshape(-1, 1), start.worth.reshape(-1, 1)
        model.rows(len(leaving), 0.0, 0.0, (leaving, 1.0), (level, -worth * float(sizes[1])))
        arriving = (leaving.T, 1.0), (end.level, -end.worth * float(sizes[0]))
        model.rows(len(end.nodes), 0.0, 0.0, *arriving)
        if sizes[0] > 1 or sizes[1] > 1:
            self._products(links, edge, room)
        return links

    def _products(self, links: IntArray, edge: Edge, room: FloatArray) -> None:
        """Bound the links by the product of the two counts from above on either side."""
        start, end = self.places[edge.source], self.places[edge.target]
        for k, j, each in np.ndindex(*room.shape, start.level.shape[1]):
            link = (links[k, each, j], 1.0)
            if not self.single[edge.target]:
                most = -start.worth[k, each] * room[k, j]
                self.model.row(-np.inf, 0.0, link, (start.level[k, each], most))
            if not self.single[edge.source]:
                self.model.row(-np.inf, 0.0, link, (end.level[j], -start.limit[k, each] * end.worth[j]))

    def _room(self, edge: Edge) -> FloatArray:
        form = self.form
        start, end = self.places[edge.source].nodes, self.places[edge.target].nodes
        room = np.tile(form.slots[edge.target, end].astype(np.float64), (len(start), 1))
        beside = most_members(form.demand[edge.target], form.capacity[end] - form.demand[edge.source])
        same = start[:, None] == end[None, :]
        return np.where(same, np.minimum(room, beside[None, :]), room)
