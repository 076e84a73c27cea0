"""Graphs whose free blocks are joined alike, with some places of each: what these cost and use.

What is the same for all of them is computed for all at once, which takes a small part of the time that it
takes for one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.elimination import Eliminations, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts
    from scheduler.exact.flows.many.stock import RowArray, Stock

MOST_AT_ONCE = 1_000_000
"""Values of a table of several graphs (8 MB)."""


@dataclass(frozen=True, eq=False)
class Alike:
    """Some graphs, with as many places of each of their blocks.

    Attributes:
        joined: Blocks with flows between them, by positions among the free ones of a graph.
        nodes: (n_graphs, n_free, n_places) the places; some may be none.
        own: (n_graphs, n_free, n_places) F of each by itself, with its flows to settled blocks; infinite for
            what is none.
        pairs: (n_graphs, n_inner, n_places, n_places) F of flows between free blocks; infinite where one by
            itself is more than a link can carry.
        demand: (n_graphs, n_free, n_resources).
        inner_flow: (n_graphs, n_inner) bytes/s.
        outer_flow: (n_graphs, n_outer) bytes/s of flows to settled blocks; 0 where a graph has fewer.
        outer_at: (n_graphs, n_outer) positions of their free ends.
        capacity_rows: (n_graphs, n_free, n_places, n_resources) rows of the capacities of places.
        outer_rows: (n_graphs, n_layers, n_outer, n_places) rows of the links to settled blocks.
        inner_rows: (n_graphs, n_layers, n_inner, n_places, n_places) rows of the links between places.
        amounts: (n_graphs, n_uses) what graphs use, in the order of `rows`.
    """

    joined: tuple[tuple[int, int], ...]
    nodes: IntArray
    own: FloatArray
    pairs: FloatArray
    demand: FloatArray
    inner_flow: FloatArray
    outer_flow: FloatArray
    outer_at: IntArray
    capacity_rows: IntArray
    outer_rows: RowArray
    inner_rows: RowArray
    amounts: FloatArray

    @staticmethod
    def of(
        form: FlowForm, stock: Stock, parts: Sequence[GraphParts], nodes: IntArray, own: FloatArray
    ) -> Alike:
        """Look up what places cost and use.

        Args:
            form: The form.
            stock: Its rows.
            parts: Graphs whose free blocks are joined alike.
            nodes: As the attribute.
            own: As the attribute.
        """
        count, _, n_places = nodes.shape
        n_outer = max(len(each.outer) for each in parts)
        outer_at = np.zeros((count, n_outer), dtype=np.int64)
        outer_flow = np.zeros((count, n_outer))
        # a route from a node to itself has no links
        shape = (count, len(stock.route), n_outer, n_places)
        outer_rows = np.full(shape, stock.n_rows, dtype=np.int32)
        for g, each in enumerate(parts):
            flows, at, ends = each.outer.T
            outer_at[g, : len(at)], outer_flow[g, : len(at)] = at, form.flow[flows]
            outer_rows[g, :, : len(at)] = stock.route[:, ends[:, None], nodes[g, at]]
        inner = np.array([each.inner for each in parts])
        i, j = inner[..., 1], inner[..., 2]
        every = np.arange(count)[:, None]
        first, second = nodes[every, i][..., :, None], nodes[every, j][..., None, :]
        weight, inner_flow = form.weight[inner[..., 0]], form.flow[inner[..., 0]]
        inner_rows = np.ascontiguousarray(np.moveaxis(stock.route[:, first, second], 0, 1))
        pairs = weight[..., None, None] * form.distance[first, second]
        pairs[stock.room[inner_rows].min(axis=1, initial=np.inf) < inner_flow[..., None, None]] = np.inf
        demand = np.array([form.demand[each.free] for each in parts])
        layers = len(stock.route)
        amounts = [demand.reshape(count, -1), np.tile(outer_flow, layers), np.tile(inner_flow, layers)]
        return Alike(
            joined=parts[0].joined,
            nodes=nodes,
            own=own,
            pairs=pairs,
            demand=demand,
            inner_flow=inner_flow,
            outer_flow=outer_flow,
            outer_at=outer_at,
            capacity_rows=stock.capacity_rows(nodes),
            outer_rows=outer_rows,
            inner_rows=inner_rows,
            amounts=np.concatenate(amounts, axis=1),
        )

    def priced(self, members: IntArray | slice, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return own and pair costs, as the attributes, of some graphs at prices (n_rows + 1,) of rows."""
        demand, at = self.demand[members], self.outer_at[members]
        own = self.own[members] + (prices[self.capacity_rows[members]] * demand[:, :, None]).sum(axis=-1)
        outer = prices[self.outer_rows[members]].sum(axis=1) * self.outer_flow[members][..., None]
        every = np.arange(len(own))
        for k in range(at.shape[1]):
            own[every, at[:, k]] += outer[:, k]
        along = prices[self.inner_rows[members]].sum(axis=1)
        along *= self.inner_flow[members][..., None, None]
        along += self.pairs[members]
        return own, along

    def eliminations(self, own: FloatArray, pairs: FloatArray) -> Eliminations:
        """Return the eliminations of costs, as the attributes, of some graphs."""
        blocks = [own[:, k] for k in range(own.shape[1])]
        return Eliminations(blocks, [(ends, pairs[:, e]) for e, ends in enumerate(self.joined)])

    def cheapest(self, members: IntArray, prices: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return (n_members,) what graphs cost at least at prices, and (n_members, n_free) choices for it."""
        axes = width(self.own.shape[1], self.joined) + 1
        at_once = max(1, MOST_AT_ONCE // self.own.shape[2] ** axes)
        least, choices = np.zeros(len(members)), np.zeros((len(members), self.own.shape[1]), dtype=np.int64)
        for first in range(0, len(members), at_once):
            part = slice(first, first + at_once)
            found = self.eliminations(*self.priced(members[part], prices))
            least[part], choices[part] = found.least, found.choices()
        return least, choices

    def cost(self, choices: IntArray) -> FloatArray:
        """Return (n_graphs,) F of places (n_graphs, n_free), without prices."""
        ends = np.array(self.joined, dtype=np.int64).reshape(-1, 2)
        every, first, second = (
            np.arange(len(choices))[:, None],
            choices[:, ends[:, 0]],
            choices[:, ends[:, 1]],
        )
        own = self.own[every, np.arange(choices.shape[1]), choices].sum(axis=1)
        total: FloatArray = own + self.pairs[every, np.arange(len(ends)), first, second].sum(axis=1)
        return total

    def rows(self, members: IntArray | slice, choices: IntArray) -> IntArray:
        """Return (n_members, n_uses) the rows that places (n_members, n_free) of some graphs use."""
        count = len(choices)
        every = np.arange(count)[:, None]
        capacity = self.capacity_rows[members][every, np.arange(choices.shape[1]), choices]
        at = np.take_along_axis(choices, self.outer_at[members], axis=1)
        outer = self.outer_rows[members][every, :, np.arange(at.shape[1]), at]
        ends = np.array(self.joined, dtype=np.int64).reshape(-1, 2)
        first, second = choices[:, ends[:, 0]], choices[:, ends[:, 1]]
        inner = self.inner_rows[members][every, :, np.arange(len(ends)), first, second]
        flows = [np.swapaxes(each, 1, 2).reshape(count, -1) for each in (outer, inner)]
        return np.concatenate([capacity.reshape(count, -1), *flows], axis=1)
