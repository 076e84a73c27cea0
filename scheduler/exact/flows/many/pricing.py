"""The graphs of a form at prices of what they share: places worth looking at, and a bound.

At prices graphs have nothing in common. What all cost then at least, less what everything that they share is
worth, is a lower bound of F (Lagrange). Only some places of each graph are looked at; what it costs at least
with any other one is known, so that the bound is one of all places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.base.work import require_time
from scheduler.exact.flows.many.alike import Alike
from scheduler.exact.flows.many.choosing import cheapest, least_on_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts
    from scheduler.exact.flows.many.near import Near
    from scheduler.exact.flows.many.stock import Stock

PLACES = 24
"""Places of a block that are looked at; for the bound twice as many if these are too few, and so on."""
SENDING = 64
"""As of `least_on_nodes`."""
AT_ONCE = 50
"""Graphs whose places are looked up together for the bound."""


@dataclass(frozen=True, eq=False)
class Tariff:
    """Prices of rows, and what follows from them.

    Attributes:
        prices: (n_rows + 1,) F per unit.
        along: (n_nodes, n_nodes) F per byte/s, of routes.
    """

    prices: FloatArray
    along: FloatArray


@dataclass(frozen=True, eq=False)
class Bound:
    """What all graphs cost at least.

    Attributes:
        value: F of no placement is below.
        least: (n_graphs,) what each costs at least at prices; 0 for those without free blocks.
    """

    value: float
    least: FloatArray


class Pricing:
    """Graphs and what they share.

    Attributes:
        form: The form.
        graphs: Its graphs.
        stock: What they share.
        limited: (n_rows,) whether there is a limit, so that a price may count.
        scale: (n_rows,) what shares of a whole row are per unit.
        narrowest: (n_nodes, n_nodes) the room of the narrowest link of each route.

    Args:
        form: The form; bandwidth is that of links.
        graphs: Its graphs.
        stock: What they share.
    """

    def __init__(self, form: FlowForm, graphs: Sequence[GraphParts], stock: Stock) -> None:
        self.form, self.graphs, self.stock = form, graphs, stock
        self.limited = np.isfinite(stock.whole)
        self.scale = np.where(self.limited & (stock.whole > 0), stock.whole, 1.0)
        self._worth = np.where(self.limited, np.maximum(stock.whole, 0.0), 0.0) / self.scale
        self.narrowest = stock.narrowest()
        self._own: dict[int, FloatArray] = {}
        self._constant = form.constant
        of_joined: dict[tuple[int, tuple[tuple[int, int], ...]], list[int]] = {}
        for graph, parts in enumerate(graphs):
            self._constant += float(form.unary[parts.settled, parts.at].sum())
            flows, first, second = parts.fixed.T
            self._constant += float((form.weight[flows] * form.distance[first, second]).sum())
            if len(parts.free):
                of_joined.setdefault((len(parts.free), parts.joined), []).append(graph)
        self._alike = [np.array(each) for each in of_joined.values()]

    def prices(self, shares: FloatArray) -> FloatArray:
        """Return (n_rows + 1,) prices per unit of prices (n_rows,) of whole rows."""
        return np.append(shares / self.scale, 0.0)

    def tariff(self, shares: FloatArray) -> Tariff:
        """Return what follows from prices (n_rows,) of whole rows."""
        prices = self.prices(shares)
        return Tariff(prices, self.stock.along(prices))

    def chosen(self, tariff: Tariff, deadline: Deadline) -> list[Alike]:
        """Return all graphs that have free blocks, with the places that are worth looking at.

        Raises:
            OutOfTimeError: The deadline has expired.
        """
        return [self._chosen(graphs, tariff, deadline) for graphs in self._alike]

    def _chosen(self, graphs: IntArray, tariff: Tariff, deadline: Deadline) -> Alike:
        nodes = []
        for graph in graphs.tolist():
            require_time(deadline)
            priced = self.own(graph) + self.surcharge(graph, tariff)
            least = least_on_nodes(self.form, self.graphs[graph], priced, tariff.along, SENDING, bound=False)
            nodes.append(cheapest(least, min(PLACES, self.form.n_nodes))[0])
        return self._at(graphs, np.array(nodes))

    def _at(self, graphs: IntArray, nodes: IntArray) -> Alike:
        """Return graphs whose free blocks are joined alike, with places (n_graphs, n_free, n_places)."""
        chosen = graphs.tolist()
        own = [np.take_along_axis(self.own(g), at, axis=1) for g, at in zip(chosen, nodes, strict=True)]
        return Alike.of(self.form, self.stock, [self.graphs[g] for g in chosen], nodes, np.array(own))

    def bound(self, near: Mapping[int, Near], tariff: Tariff, deadline: Deadline) -> Bound:
        """Return a lower bound of F.

        Args:
            near: Places at these prices, of each graph that has free blocks.
            tariff: The prices.
            deadline: When to stop.

        Raises:
            OutOfTimeError: The deadline has expired.
        """
        least = np.zeros(len(self.graphs))
        shares = tariff.prices[:-1] * self.scale
        for graphs in self._alike:
            of_graphs, beyond = np.full(len(graphs), np.inf), np.full(len(graphs), -np.inf)
            places, most = PLACES, near[int(graphs[0])].nodes.shape[1]
            # where other places may be cheaper more of them are looked at
            while len(some := np.flatnonzero(beyond < of_graphs)):
                places = min(places, most)
                for few in np.array_split(some, -(-len(some) // AT_ONCE)):
                    require_time(deadline)
                    looked_at = [near[g] for g in graphs[few].tolist()]
                    alike = self._at(graphs[few], np.array([each.nodes[:, :places] for each in looked_at]))
                    of_graphs[few] = alike.cheapest(np.arange(len(few)), tariff.prices)[0]
                    beyond[few] = [float(each.least[:, places].min(initial=np.inf)) for each in looked_at]
                if places == most:
                    break
                places *= 2
            least[graphs] = np.minimum(of_graphs, beyond)
        return Bound(self._constant - float(shares @ self._worth) + float(least.sum()), least)

    def own(self, graph: int) -> FloatArray:
        """Return (n_free, n_nodes) F of places by themselves, with flows to settled blocks; infinite for what
        is no place even with no other graph.
        """
        known = self._own.get(graph)
        if known is None:
            known = self._own[graph] = frozen(self._own_costs(self.graphs[graph]))
        return known

    def _own_costs(self, parts: GraphParts) -> FloatArray:
        form, stock = self.form, self.stock
        room = stock.room[stock.capacity_rows(np.arange(form.n_nodes))]
        demand = form.demand[parts.free]
        fits = form.allowed[parts.free] & (demand[:, None] <= room).all(axis=-1)
        own: FloatArray = np.where(fits, form.unary[parts.free], np.inf)
        for flow, k, node in parts.outer.tolist():
            own[k] += form.weight[flow] * form.distance[node]
            own[k, self.narrowest[node] < form.flow[flow]] = np.inf
        return own

    def surcharge(self, graph: int, tariff: Tariff) -> FloatArray:
        """Return (n_free, n_nodes) what prices add to that."""
        parts, form = self.graphs[graph], self.form
        of_nodes = tariff.prices[: form.capacity.size].reshape(form.capacity.shape)
        extra: FloatArray = form.demand[parts.free] @ of_nodes.T
        for flow, k, node in parts.outer.tolist():
            extra[k] += form.flow[flow] * tariff.along[node]
        return extra
