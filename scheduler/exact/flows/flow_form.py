"""A problem of places and flows: what each operator costs where it runs, and each stream along its route.

Operators that share a node are one block. Between two blocks there is one flow, of all their streams,
whichever their direction: routes, costs and bandwidths have none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen
from scheduler.evaluation.linear_form import linear_form
from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.co_location import CoLocationRule
from scheduler.model.constraints.latency_limit import LatencyRule
from scheduler.model.constraints.link_bandwidth import LinkBandwidthRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.model.problem import Problem
    from scheduler.model.underlay import Underlay

KNOWN = (CoLocationRule, LinkBandwidthRule, LatencyRule)
"""Rules that a form states in full."""


@dataclass(frozen=True, eq=False)
class FlowForm:
    """F = constant + sum of unary over blocks + sum over flows of weight times the distance of their blocks.

    Attributes:
        problem: Where it comes from.
        members: Operators of each block.
        constant: What belongs to no decision.
        unary: (n_blocks, n_nodes) what a block adds to F.
        allowed: (n_blocks, n_nodes) where it may be.
        demand: (n_blocks, n_resources).
        capacity: (n_nodes, n_resources) what is left for these blocks.
        ends: (n_flows, 2) blocks that each flow joins, the smaller one first.
        weight: (n_flows,) F per unit of distance.
        flow: (n_flows,) bytes/s.
        distance: (n_nodes, n_nodes) costs of routes.
        underlay: Links and routes.
        bandwidth: (n_links,) bytes/s that are left for these blocks; infinite where nothing limits them.
        by_pair: Whether bandwidth limits each pair of nodes by itself.
        graph: (n_blocks,) graphs of the blocks; those that share a block are one.
        limits: Limits of latency.
    """

    problem: Problem
    members: tuple[IntArray, ...]
    constant: float
    unary: FloatArray
    allowed: BoolArray
    demand: FloatArray
    capacity: FloatArray
    ends: IntArray
    weight: FloatArray
    flow: FloatArray
    distance: FloatArray
    underlay: Underlay
    bandwidth: FloatArray
    by_pair: bool
    graph: IntArray
    limits: tuple[LatencyRule, ...]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.members)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.capacity)

    def value(self, at: IntArray) -> float:
        """Return F of blocks on nodes (n_blocks,)."""
        start, end = at[self.ends[:, 0]], at[self.ends[:, 1]]
        places = float(self.unary[np.arange(len(at)), at].sum())
        return self.constant + places + float(self.weight @ self.distance[start, end])

    def used(self, at: IntArray) -> FloatArray:
        """Return (n_links,) bytes/s over each link with blocks on nodes (n_blocks,), -1 for nowhere."""
        total = np.zeros(len(self.bandwidth) + 1)
        flows = np.flatnonzero((at[self.ends] >= 0).all(axis=1))
        start, end = at[self.ends[flows]].T
        for layer in self.underlay.route:  # what has no further link counts as the last one, which is none
            total += np.bincount(layer[start, end] % len(total), self.flow[flows], len(total))
        return total[:-1]

    def overfull(self, at: IntArray) -> IntArray:
        """Return the links that carry more than is left of them; none where pairs are limited."""
        if self.by_pair:
            return np.zeros(0, dtype=np.int64)
        most = np.where(np.isfinite(self.bandwidth), self.bandwidth, 0.0)
        room = TOLERANCE * np.maximum(1.0, most)
        return np.flatnonzero(self.used(at) > self.bandwidth + room)

    def crowded(self, at: IntArray) -> IntArray:
        """Return (k, 2) nodes and resources of which blocks on nodes (n_blocks,) demand too much."""
        load = np.zeros(self.capacity.shape)
        np.add.at(load, at, self.demand)
        return np.argwhere(load > self.capacity + TOLERANCE)

    def fits(self, at: IntArray) -> bool:
        """Return whether blocks on nodes (n_blocks,) keep to all limits."""
        if len(self.crowded(at)) or len(self.overfull(at)):
            return False
        column = self.placement(at)[:, None]
        if not all(bool(limit.met(column)[0]) for limit in self.limits):
            return False
        return not self.by_pair or self._pairs_fit(at)

    def _pairs_fit(self, at: IntArray) -> bool:
        """Return whether the flows between each two nodes keep within the narrowest link of their route."""
        pairs, which = np.unique(np.sort(at[self.ends], axis=1), axis=0, return_inverse=True)
        sent = np.zeros(len(pairs))
        np.add.at(sent, which.ravel(), self.flow)
        room = np.append(self.bandwidth, np.inf)[self.underlay.route[:, pairs[:, 0], pairs[:, 1]]]
        most = room.min(axis=0, initial=np.inf)
        slack = TOLERANCE * np.maximum(1.0, np.where(np.isfinite(most), most, 1.0))
        return bool((sent <= most + slack).all())

    @property
    def one_graph(self) -> bool:
        """Whether all blocks are of one graph."""
        return not self.graph.any()

    def at(self, placement: IntArray) -> IntArray:
        """Return (n_blocks,) the nodes of blocks in a placement (n_ops,), of a form of all operators."""
        first = np.array([each[0] for each in self.members])
        return np.asarray(placement[first], dtype=np.int64)

    def placement(self, at: IntArray) -> IntArray:
        """Return the placement (n_ops,) with blocks on nodes (n_blocks,), of a form of all operators."""
        placement = np.full(self.problem.n_ops, -1)
        for members, node in zip(self.members, at.tolist(), strict=True):
            placement[members] = node
        return placement

    def closed(self, allowed: BoolArray) -> FlowForm:
        """Return the form with fewer places."""
        return replace(self, allowed=frozen(self.allowed & allowed))

    def part(self, blocks: IntArray, capacity: FloatArray, bandwidth: FloatArray) -> FlowForm:
        """Return the form of some blocks without flows to others, in what is left for them."""
        position = np.full(self.n_blocks, -1)
        position[blocks] = np.arange(len(blocks))
        own = np.flatnonzero((position[self.ends] >= 0).all(axis=1))
        operators = {int(i) for k in blocks.tolist() for i in self.members[k]}
        return replace(
            self,
            members=tuple(self.members[k] for k in blocks.tolist()),
            constant=0.0,
            unary=self.unary[blocks],
            allowed=self.allowed[blocks],
            demand=self.demand[blocks],
            capacity=capacity,
            ends=position[self.ends[own]],
            weight=self.weight[own],
            flow=self.flow[own],
            bandwidth=bandwidth,
            graph=np.unique(self.graph[blocks], return_inverse=True)[1],
            limits=tuple(each for each in self.limits if each.sink in operators),
        )


def flow_form(problem: Problem) -> FlowForm | None:
    """Return a problem as a flow form; None if F weighs, or a rule limits, what such a form does not know."""
    network = problem.network
    form = linear_form(problem)
    if network.underlay is None or form.response_factor or form.set_up is not None:
        return None
    if any(term.table is not network.stream_costs for term in form.pairs):
        return None
    if not all(isinstance(rule, KNOWN) for rule in problem.rules):
        return None
    block, members = blocks(problem)
    weights = [term.weight for term in form.pairs]
    no_weight = np.zeros(len(problem.application.streams))
    ends, weight, flow = _flows(problem, block, sum(weights, no_weight))
    totals = {rule.total for rule in problem.rules if isinstance(rule, LinkBandwidthRule)}
    if len(totals) > 1:
        return None
    total = next(iter(totals), None)
    underlay = network.underlay
    unlimited = np.full(len(underlay.links), np.inf)
    count = len(members)
    unary, demand = np.zeros((count, problem.n_nodes)), np.zeros((count, problem.demand.shape[1]))
    np.add.at(unary, block, form.unary)
    np.add.at(demand, block, problem.demand)
    return FlowForm(
        problem=problem,
        members=members,
        constant=form.constant,
        unary=frozen(unary),
        allowed=frozen(np.array([problem.allowed[each].all(axis=0) for each in members])),
        demand=frozen(demand),
        capacity=problem.capacity,
        ends=ends,
        weight=weight,
        flow=flow,
        distance=network.stream_costs.matrix(),
        underlay=underlay,
        bandwidth=unlimited if total is None else underlay.bandwidth,
        by_pair=total == "pair",
        graph=_graphs(problem, block, count),
        limits=tuple(rule for rule in problem.rules if isinstance(rule, LatencyRule)),
    )


def blocks(problem: Problem) -> tuple[IntArray, tuple[IntArray, ...]]:
    """Return (n_ops,) the block of each operator, by its first member, and the members of each block."""
    leader = _joined(problem.n_ops, problem.rules.together)
    _, block = np.unique(leader, return_inverse=True)
    count = int(block.max()) + 1
    return block, tuple(np.flatnonzero(block == k) for k in range(count))


def _graphs(problem: Problem, block: IntArray, count: int) -> IntArray:
    """Return (n_blocks,) the graph of each block, counted from 0."""
    graph = problem.application.graphs.member
    shared = [np.unique(graph[block == k]) for k in range(count)]
    leader = _joined(int(graph.max()) + 1, [each for each in shared if len(each) > 1])
    first = np.array([leader[each[0]] for each in shared])
    number: IntArray = np.unique(first, return_inverse=True)[1]
    return number


def _joined(count: int, sets: Iterable[IntArray]) -> IntArray:
    """Return (count,) the smallest of all that each one is joined with, directly or not."""
    leader = np.arange(count)
    for members in sets:
        leaders = np.unique(leader[members])
        leader[np.isin(leader, leaders)] = leaders[0]
    return leader


def _flows(problem: Problem, block: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the flows between blocks: ends (n_flows, 2), weights and bytes/s."""
    application = problem.application
    ends = np.sort(block[np.column_stack([application.stream_source, application.stream_target])], axis=1)
    apart = ends[:, 0] != ends[:, 1]
    pairs, flow_of = np.unique(ends[apart], axis=0, return_inverse=True)
    count, flow_of = len(pairs), flow_of.ravel()
    sent = application.rate * application.tuple_bytes
    weights, flows = np.zeros(count), np.zeros(count)
    np.add.at(weights, flow_of, weight[apart])
    np.add.at(flows, flow_of, sent[apart])
    return pairs.reshape(count, 2), weights, flows
