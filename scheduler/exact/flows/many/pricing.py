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
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts
    from scheduler.exact.flows.many.stock import Stock

PLACES = 24
"""Places of a block that are looked at."""
MOST_PLACES = 96
"""The same, for the bound of graphs that may cost less with others."""
SENDING = 64
"""As of `least_on_nodes`."""


@dataclass(frozen=True, eq=False)
class Tariff:
    """Prices of rows, and what follows from them.

    Attributes:
        prices: (n_rows + 1,) F per unit.
        along: (n_nodes, n_nodes) F per byte/s, of routes.
    """

    prices: FloatArray
    along: FloatArray


class Pricing:
    """Graphs and what they share.

    Attributes:
        form: The form.
        graphs: Its graphs.
        stock: What they share.
        limited: (n_rows,) whether there is a limit, so that a price may count.
        scale: (n_rows,) what shares of a whole row are per unit.

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
        self._narrowest = stock.narrowest()
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
        return [self._looked_at(graphs, tariff, PLACES, deadline)[0] for graphs in self._alike]

    def bound(self, shares: FloatArray, deadline: Deadline) -> float:
        """Return a lower bound of F, at prices (n_rows,) of whole rows.

        Raises:
            OutOfTimeError: The deadline has expired.
        """
        tariff = self.tariff(shares)
        bound = self._constant - float(shares @ self._worth)
        for graphs in self._alike:
            least, beyond = np.full(len(graphs), np.inf), np.full(len(graphs), -np.inf)
            places = PLACES
            # where other places may be cheaper more of them are looked at
            while places <= MOST_PLACES and len(some := np.flatnonzero(beyond < least)):
                alike, beyond[some] = self._looked_at(graphs[some], tariff, places, deadline)
                least[some] = alike.cheapest(np.arange(len(some)), tariff.prices)[0]
                places *= 2
            bound += float(np.minimum(least, beyond).sum())
        return bound

    def _looked_at(
        self, graphs: IntArray, tariff: Tariff, places: int, deadline: Deadline
    ) -> tuple[Alike, FloatArray]:
        """Return graphs with some places, and (n_graphs,) what each costs at least with any other place."""
        parts = [self.graphs[each] for each in graphs.tolist()]
        places = min(places, self.form.n_nodes)
        shape = (len(graphs), len(parts[0].free), places)
        nodes, own, beyond = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(len(graphs))
        for k, graph in enumerate(graphs.tolist()):
            require_time(deadline)
            cost = self.own(graph)
            priced = cost + self.surcharge(graph, tariff)
            least = least_on_nodes(self.form, parts[k], priced, tariff.along, SENDING, bound=True)
            nodes[k], beyond[k] = cheapest(least, places)
            own[k] = np.take_along_axis(cost, nodes[k], axis=1)
        return Alike.of(self.form, self.stock, parts, nodes, own), beyond

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
            own[k, self._narrowest[node] < form.flow[flow]] = np.inf
        return own

    def surcharge(self, graph: int, tariff: Tariff) -> FloatArray:
        """Return (n_free, n_nodes) what prices add to that."""
        parts, form = self.graphs[graph], self.form
        of_nodes = tariff.prices[: form.capacity.size].reshape(form.capacity.shape)
        extra: FloatArray = form.demand[parts.free] @ of_nodes.T
        for flow, k, node in parts.outer.tolist():
            extra[k] += form.flow[flow] * tariff.along[node]
        return extra
