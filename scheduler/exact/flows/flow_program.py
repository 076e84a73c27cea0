"""A flow form as a mixed-integer program (paper 002, eq. 1-7).

A flow with one end that has a single place is linear in the places of its other end. Of two free ends, the
pairs of places are variables if these are few; else the flow has a variable per link and direction, far
fewer, but then its way through the network is free: a relaxation of fixed routes, whose optimum is checked
and cut off (`covers`). Both have the same linear bound while no bandwidth binds, as both transport along
least distances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.solver.model_builder import ModelBuilder
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.math_opt.model_pb2 import ModelProto

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.covers import Cover
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.model.constraints.latency_limit import LatencyRule

PAIRS_PER_LINK = 1.0
"""Pairs of places per variable of a flow over links up to which they are taken: their routes are exact."""


@dataclass(frozen=True, eq=False)
class FlowProgram:
    """A program and where its answer stands.

    Attributes:
        model: The program, for `solvers.run_highs`.
        place: (n_blocks, n_nodes) variable of each place, -1 where there is none.
    """

    model: ModelProto
    place: IntArray

    @property
    def wanted(self) -> IntArray:
        """The variables of places, ascending."""
        return self.place[self.place >= 0]

    def at(self, values: FloatArray) -> IntArray:
        """Return (n_blocks,) the nodes in a solution of the wanted variables."""
        shares = np.full(self.place.shape, -1.0)
        shares[self.place >= 0] = values
        at: IntArray = shares.argmax(axis=1)
        return at


def flow_program(
    form: FlowForm,
    deadline: Deadline,
    covers: Sequence[Cover] = (),
    *,
    all_pairs: bool = False,
    fastest: LatencyRule | None = None,
) -> FlowProgram:
    """Return the program of a form.

    Args:
        form: The form; each block has a place.
        deadline: When to stop.
        covers: Cuts.
        all_pairs: Whether every flow has a variable per pair of places: the program needs no cuts then.
        fastest: A limit of latency that is not kept: the time that it limits is minimised, beside F.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    return _Writer(form, deadline, all_pairs=all_pairs, fastest=fastest).write(covers)


@dataclass
class _Usage:
    """What variables add to the rows of bandwidth."""

    row: list[IntArray] = field(default_factory=list)
    column: list[IntArray] = field(default_factory=list)
    value: list[FloatArray] = field(default_factory=list)

    def add(self, row: IntArray, column: IntArray, value: float) -> None:
        """Add an entry for each row that is not negative; row and column are of one shape."""
        there = row >= 0
        self.row.append(row[there])
        self.column.append(column[there])
        self.value.append(np.full(int(there.sum()), value))


class _Writer:
    def __init__(
        self, form: FlowForm, deadline: Deadline, *, all_pairs: bool, fastest: LatencyRule | None
    ) -> None:
        self.form, self.model, self.fastest = form, ModelBuilder(deadline), fastest
        self.nodes = [np.flatnonzero(row) for row in form.allowed]
        self.size = np.array([len(each) for each in self.nodes])
        limited_ops = _operators_with_limits(form)
        block_of = {int(i): b for b, members in enumerate(form.members) for i in members}
        late = {block_of[i] for i in limited_ops}
        self.fixed = self.size[form.ends] == 1
        pairs = self.size[form.ends].prod(axis=1)
        few = pairs <= PAIRS_PER_LINK * 2 * len(form.underlay.links)
        timed = np.array([a in late and b in late for a, b in form.ends.tolist()], dtype=bool)
        # a flow over links cannot be followed through nodes that this part of a network does not have
        unseen = not form.underlay.followed
        self.in_pairs = few | timed | all_pairs | form.by_pair | unseen
        self.block_of = block_of
        self.route = self._rows_of_routes()
        self.usage = _Usage()
        self.spent = np.zeros(self.n_rows)  # what flows between fixed ends use
        self.links: dict[int, IntArray] = {}

    def _rows_of_routes(self) -> IntArray:
        """Return (n_layers, n_nodes, n_nodes) rows of bandwidth that routes charge, -1 for none."""
        form = self.form
        if form.by_pair:
            narrowest = np.append(form.bandwidth, np.inf)[form.underlay.route].min(axis=0, initial=np.inf)
            first, second = np.nonzero(np.triu(np.isfinite(narrowest), 1))
            row = np.full((1, form.n_nodes, form.n_nodes), -1)
            row[0, first, second] = row[0, second, first] = np.arange(len(first))
            self.most = narrowest[first, second]
        else:
            row, self.most = form.underlay.route, form.bandwidth
        self.n_rows = len(self.most)
        return row

    def write(self, covers: Sequence[Cover]) -> FlowProgram:
        form, model = self.form, self.model
        unary = np.array(form.unary)
        constant = form.constant
        for f, (a, b) in enumerate(form.ends.tolist()):
            constant += self._fixed_costs(f, a, b, unary)
        self.place = np.full(form.allowed.shape, -1)
        self.place[form.allowed] = model.variables(
            np.ones(int(self.size.sum())), unary[form.allowed], integer=True
        )
        for b, nodes in enumerate(self.nodes):
            model.row(1.0, 1.0, (self.place[b, nodes], 1.0))
        self._capacities()
        for f, (a, b) in enumerate(form.ends.tolist()):
            self._flow(f, a, b)
        self._bandwidths()
        self._latencies()
        for cover in covers:
            places = self.place[cover.terms[:, 0], cover.terms[:, 1]]
            model.row(-np.inf, cover.most, (places[places >= 0], 1.0))
        return FlowProgram(model.build(constant), self.place)

    def _fixed_costs(self, f: int, a: int, b: int, unary: FloatArray) -> float:
        """Add what a flow with a fixed end costs to the places of the other; return it if both are fixed."""
        form, weight = self.form, self.form.weight[f]
        fixed_a, fixed_b = self.fixed[f].tolist()
        if fixed_a and fixed_b:
            return float(weight * form.distance[self.nodes[a][0], self.nodes[b][0]])
        if fixed_a:
            unary[b] += weight * form.distance[self.nodes[a][0]]
        elif fixed_b:
            unary[a] += weight * form.distance[self.nodes[b][0]]
        return 0.0

    def _capacities(self) -> None:
        form = self.form
        asked = form.allowed.T.astype(np.float64) @ form.demand
        for u, r in np.argwhere(asked > form.capacity).tolist():
            blocks = np.flatnonzero(form.allowed[:, u] & (form.demand[:, r] > 0))
            most = float(form.capacity[u, r])
            scale = max(1.0, most)  # a solver's tolerances are absolute
            terms = self.place[blocks, u], form.demand[blocks, r] / scale
            self.model.row(-np.inf, (most + TOLERANCE) / scale, terms)

    def _flow(self, f: int, a: int, b: int) -> None:
        """Add the variables of a flow, and what it uses of bandwidths."""
        sent = float(self.form.flow[f])
        fixed_a, fixed_b = self.fixed[f].tolist()
        if fixed_a and fixed_b:
            rows = self.route[:, self.nodes[a][0], self.nodes[b][0]]
            np.add.at(self.spent, rows[rows >= 0], sent)
        elif fixed_a or fixed_b:
            end, other = (a, b) if fixed_a else (b, a)
            rows = self.route[:, self.nodes[end][0], self.nodes[other]]
            column = np.broadcast_to(self.place[other, self.nodes[other]], rows.shape)
            self.usage.add(rows, column, sent)
        elif self.in_pairs[f]:
            self._in_pairs(f, a, b)
        else:
            self._over_links(f, a, b)

    def _in_pairs(self, f: int, a: int, b: int) -> None:
        form, model = self.form, self.model
        start, end = self.nodes[a], self.nodes[b]
        cost = form.weight[f] * form.distance[np.ix_(start, end)]
        pair = model.variables(np.ones(cost.shape), cost, integer=False)
        self.links[f] = pair
        model.rows(len(start), 0.0, 0.0, (pair, 1.0), (self.place[a, start, None], -1.0))
        model.rows(len(end), 0.0, 0.0, (pair.T, 1.0), (self.place[b, end, None], -1.0))
        rows = self.route[:, start[:, None], end]
        self.usage.add(rows, np.broadcast_to(pair, rows.shape), float(form.flow[f]))

    def _over_links(self, f: int, a: int, b: int) -> None:
        """Add a variable per link and direction; where nothing is relayed, flows only begin or end."""
        form, model, underlay = self.form, self.model, self.form.underlay
        ends = np.vstack([underlay.ends, underlay.ends[:, ::-1]])
        leaves = underlay.relays | form.allowed[a]
        comes = underlay.relays | form.allowed[b]
        usable = np.flatnonzero(leaves[ends[:, 0]] & comes[ends[:, 1]])
        start, end = ends[usable].T
        link = usable % len(underlay.links)
        cost = form.weight[f] * underlay.cost[link]
        over = model.variables(np.ones(len(usable)), cost, integer=False)
        for u in range(form.n_nodes):
            out, into = over[start == u], over[end == u]
            own_a, own_b = (self._own(block, u) for block in (a, b))
            if len(out) + len(into) + len(own_a) + len(own_b):
                model.row(0.0, 0.0, (out, 1.0), (into, -1.0), (own_a, -1.0), (own_b, 1.0))
            if not underlay.relays[u]:
                if len(out):
                    model.row(-np.inf, 0.0, (out, 1.0), (own_a, -1.0))
                if len(into):
                    model.row(-np.inf, 0.0, (into, 1.0), (own_b, -1.0))
        self.usage.add(link, over, float(form.flow[f]))

    def _own(self, block: int, u: int) -> IntArray:
        return self.place[block, u : u + 1][self.place[block, u : u + 1] >= 0]

    def _bandwidths(self) -> None:
        """Add the rows of bandwidths that can be exceeded."""
        row, column, value = (
            np.concatenate(each) if each else np.zeros(0)
            for each in (self.usage.row, self.usage.column, self.usage.value)
        )
        key, cell = np.unique(np.stack([row, column]).astype(np.int64), axis=1, return_inverse=True)
        total = np.zeros(key.shape[1])
        np.add.at(total, cell.ravel(), value)
        begins = np.searchsorted(key[0], np.arange(self.n_rows + 1))
        for r in range(self.n_rows):
            part = slice(begins[r], begins[r + 1])
            left = float(self.most[r] - self.spent[r])
            if np.isfinite(left) and total[part].sum() > left:
                scale = max(1.0, float(self.most[r]))
                most = left / scale + TOLERANCE
                self.model.row(-np.inf, most, (key[1, part], total[part] / scale))

    def _latencies(self) -> None:
        """Add the times at which operators begin, as far as limits need them."""
        form, application = self.form, self.form.problem.application
        operators = _operators_with_limits(form)
        if not operators:
            return
        most = np.inf if self.fastest is not None else max(each.most_ms for each in form.limits)
        begin = np.full(form.problem.n_ops, -1)
        begin[operators] = self.model.variables(
            np.full(len(operators), most), np.zeros(len(operators)), integer=False
        )
        terms: list[tuple[IntArray, FloatArray | float]]
        flow_of = {ends: f for f, ends in enumerate(map(tuple, form.ends.tolist()))}
        for s in np.flatnonzero(application.critical).tolist():
            i, j = int(application.stream_source[s]), int(application.stream_target[s])
            if begin[i] >= 0 and begin[j] >= 0 and i != j:
                a, b = self.block_of[i], self.block_of[j]
                terms = [(begin[j : j + 1], 1.0), (begin[i : i + 1], -1.0), *self._own_time(i, -1.0)]
                fixed = 0.0
                if a != b:
                    way, fixed = self._way(flow_of[min(a, b), max(a, b)])
                    terms += way
                self.model.row(fixed, np.inf, *_merged(terms))
        for each in form.limits:
            terms = [(begin[each.sink : each.sink + 1], 1.0), *self._own_time(each.sink, 1.0)]
            if each is self.fastest:
                reached = self.model.variables(np.full(1, np.inf), np.ones(1), integer=False)
                self.model.row(-np.inf, 0.0, *_merged([*terms, (reached, -1.0)]))
            else:
                self.model.row(-np.inf, each.most_ms, *_merged(terms))

    def _own_time(self, operator: int, sign: float) -> list[tuple[IntArray, FloatArray | float]]:
        block = self.block_of[operator]
        nodes = self.nodes[block]
        return [(self.place[block, nodes], sign * self.form.problem.execution_ms[operator, nodes])]

    def _way(self, f: int) -> tuple[list[tuple[IntArray, FloatArray | float]], float]:
        """Return the terms of a flow's delay, negative, and what of it is fixed."""
        (a, b), delay = self.form.ends[f].tolist(), self.form.problem.network.delay_ms
        fixed_a, fixed_b = self.fixed[f].tolist()
        if fixed_a and fixed_b:
            return [], float(delay[self.nodes[a][0], self.nodes[b][0]])
        if fixed_a or fixed_b:
            end, other = (a, b) if fixed_a else (b, a)
            nodes = self.nodes[other]
            return [(self.place[other, nodes], -delay[self.nodes[end][0], nodes])], 0.0
        return [(self.links[f].ravel(), -delay[np.ix_(self.nodes[a], self.nodes[b])].ravel())], 0.0


def _operators_with_limits(form: FlowForm) -> list[int]:
    """Return the operators, ascending, that lie before a limited one, itself included."""
    before = np.zeros(form.problem.n_ops, dtype=np.bool_)
    for each in form.limits:
        before |= each.before
    return np.flatnonzero(before).tolist()


def _merged(terms: Sequence[tuple[IntArray, FloatArray | float]]) -> list[tuple[IntArray, FloatArray]]:
    """Return terms in which no variable is there twice."""
    columns = np.concatenate([np.ravel(column) for column, _ in terms])
    values = np.concatenate([np.broadcast_to(value, np.shape(column)).ravel() for column, value in terms])
    column, cell = np.unique(columns, return_inverse=True)
    total = np.zeros(len(column))
    np.add.at(total, cell, values)
    return [(column, total)]
