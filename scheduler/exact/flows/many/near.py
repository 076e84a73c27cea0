"""Places of a graph that are worth looking at, and what the graph costs there at prices.

To place a graph again takes a small part of the time that it takes with all places, and among thousands of
places few are ever worth it. Which these are follows from what the graph costs at least with each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.many.choosing import cheapest, least_on_nodes, least_with

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.graph_parts import GraphParts
    from scheduler.exact.flows.many.pricing import Pricing, Tariff
    from scheduler.exact.flows.many.stock import RowArray

PLACES = 96
"""Places of a block."""
SENDING = 256
"""As of `least_on_nodes`."""


@dataclass(frozen=True, eq=False)
class Near:
    """Places of the free blocks of a graph, those with which it costs least at prices first.

    Attributes:
        graph: Which.
        parts: Its parts.
        nodes: (n_free, n_places) the places.
        least: (n_free, n_places + 1) what the graph costs at least with each, and with any that is left out.
        own: (n_free, n_places) F of each by itself, with its flows to settled blocks, without prices.
        priced: (n_free, n_places) the same at prices; infinite for what is none.
        pairs: (n_inner, n_places, n_places) F of flows between free blocks at prices; infinite where one by
            itself is more than a link can carry.
        least_cost: F of the graph on no such places is below, without prices.
        demand: (n_free, 1, n_resources).
        capacity_rows: (n_free, n_places, n_resources) rows of the capacities of places.
        outer_rows: (n_layers, n_outer, n_places) rows of the links to settled blocks.
        amounts: (n_uses,) what the graph uses: of capacities, then of links to settled blocks, then between
            free ones.
    """

    graph: int
    parts: GraphParts
    nodes: IntArray
    least: FloatArray
    own: FloatArray
    priced: FloatArray
    pairs: FloatArray
    least_cost: float
    demand: FloatArray
    capacity_rows: IntArray
    outer_rows: RowArray
    amounts: FloatArray

    @staticmethod
    def of(pricing: Pricing, graph: int, tariff: Tariff, left: FloatArray | None = None) -> Near:
        """Look around for a graph that has free blocks.

        Args:
            pricing: The graphs.
            graph: Which.
            tariff: The prices.
            left: (n_rows + 1,) what is left of rows, where what does not fit is no place; None: all rows.
        """
        form, stock, parts = pricing.form, pricing.stock, pricing.graphs[graph]
        own = pricing.own(graph)
        priced = own + pricing.surcharge(graph, tariff)
        fitting = priced
        if left is not None:
            room = left[: form.capacity.size].reshape(form.capacity.shape)
            fitting = np.where((form.demand[parts.free][:, None] > room).any(axis=-1), np.inf, priced)
        least = least_on_nodes(form, parts, fitting, tariff.along, SENDING, bound=left is None)
        nodes, costs = cheapest(least, min(PLACES, form.n_nodes))
        flows, first, second = parts.inner.T
        i, j = nodes[first][:, :, None], nodes[second][:, None, :]
        weight, flow = form.weight[flows][:, None, None], form.flow[flows][:, None, None]
        ways = weight * form.distance[i, j]
        ways[pricing.narrowest[i, j] < flow] = np.inf
        near = np.take_along_axis(own, nodes, axis=1)
        outer, at, ends = parts.outer.T
        layers = len(stock.route)
        demand = form.demand[parts.free]
        used = [demand.ravel(), np.tile(form.flow[outer], layers), np.tile(form.flow[flows], layers)]
        return Near(
            graph=graph,
            parts=parts,
            nodes=nodes,
            least=costs,
            own=near,
            priced=np.take_along_axis(priced, nodes, axis=1),
            pairs=ways + flow * tariff.along[i, j],
            least_cost=float(least_in(parts, near, ways)[:1].min(initial=np.inf)),
            demand=demand[:, None],
            capacity_rows=stock.capacity_rows(nodes),
            outer_rows=stock.route[:, ends[:, None], nodes[at]],
            amounts=np.concatenate(used),
        )


def least_in(parts: GraphParts, own: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return (n_free, n_places) what a graph costs at least with each of some places.

    Args:
        parts: The graph.
        own: (n_free, n_places) what blocks cost by themselves; infinite for what is no place.
        pairs: (n_inner, n_places, n_places) what flows between them cost.
    """

    def sent(edge: int, sender: int, value: FloatArray) -> FloatArray:
        if parts.inner[edge, 1] == sender:
            return (pairs[edge] + value[:, None]).min(axis=0)  # type: ignore[no-any-return]  # numpy's min
        return (pairs[edge] + value).min(axis=1)  # type: ignore[no-any-return]  # numpy's min

    return least_with(parts, own, sent)
