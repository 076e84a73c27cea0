"""Placements of all graphs at prices that differ: starts for a search, each in some ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.graph_columns import GraphColumns, Partial
from scheduler.exact.columns.prices import Prices

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm

WIDTH = 100
"""Partial placements that are kept."""
SPREAD = 0.3
"""Standard deviation of the logarithms by which prices differ."""


class JointBeam:
    """Beam search graph by graph, each at prices of what the others need.

    Args:
        form: The problem; it has columns.
        places: (n_classes, n_nodes) open places, at least one of each class.
        prices: Of a relaxation.
    """

    def __init__(self, form: ClassForm, places: BoolArray, prices: Prices) -> None:
        self._nodes = np.flatnonzero(places.any(axis=0))
        self._form, self._places = form.restricted(self._nodes), places[:, self._nodes]
        self._prices = prices.restricted(self._nodes)
        n = len(self._nodes)
        self._set_up = np.zeros(n) if self._form.set_up is None else self._form.set_up

    def placement(self, random: np.random.Generator) -> IntArray | None:
        """Return (n_classes,) nodes of the best placement at random prices; None if none has room."""
        form, n = self._form, len(self._nodes)
        factor = np.exp(SPREAD * random.standard_normal((2, n)))
        capacity, place = self._prices.capacity * factor[0, :, None], self._prices.place * factor[1]
        prices = Prices(capacity, place, self._prices.stream, self._prices.end)
        unpaid = np.maximum(self._set_up - (capacity * form.capacity).sum(axis=1) - place.sum(axis=0), 0.0)
        graphs = [
            GraphColumns(form, k, self._places, prices, unpaid)
            for k in random.permutation(form.graphs.count).tolist()
        ]
        live = Partial.nothing(form.capacity)
        for graph in graphs:
            more = graph.behind(live, WIDTH)
            if more is None:
                return None
            live = more
        best = live.at[int(self._cost(graphs, live).argmin())]
        at = np.zeros(form.n_classes, dtype=np.int64)
        at[[c for graph in graphs for c in graph.members]] = self._nodes[best]
        return at

    def _cost(self, graphs: list[GraphColumns], live: Partial) -> FloatArray:
        """Return (k,) F of placements, without its constant."""
        cost: FloatArray = live.used @ self._set_up
        first = 0
        for graph in graphs:
            own = slice(first, first := first + len(graph.members))
            cost = cost + graph.cost_of(live.at[:, own], graph.response(live.finish[:, own]))
        return cost
