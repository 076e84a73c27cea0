"""Placements of all graphs at prices that differ: starts for a search, each in some ms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.graph_columns import GraphColumns
from scheduler.exact.columns.partial import Partial

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.columns.prices import Prices
    from scheduler.exact.form.class_form import ClassForm

TRIALS, WIDTH = 8, 20
"""Random prices that are tried side by side, and partial placements that are kept for each."""
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

    def placements(self, random: np.random.Generator) -> IntArray:
        """Return (n_classes, k) nodes of the best placement at each of some random prices that has room."""
        form, n = self._form, len(self._nodes)
        factor = np.exp(SPREAD * random.standard_normal((2, TRIALS, 1, n)))
        capacity = self._prices.capacity * factor[0].transpose(0, 2, 1)
        prices = replace(self._prices, capacity=capacity, place=self._prices.place * factor[1])
        paid = (capacity * form.capacity).sum(axis=2) + prices.place.sum(axis=1)
        unpaid = np.maximum(self._set_up - paid, 0.0)
        graphs = [
            GraphColumns(form, k, self._places, prices, unpaid)
            for k in random.permutation(form.graphs.count).tolist()
        ]
        live = Partial.nothing(form.capacity, TRIALS)
        for graph in graphs:
            live = graph.behind(live, WIDTH)
        cost = np.where(live.priced < np.inf, self._cost(graphs, live), np.inf).reshape(TRIALS, -1)
        best = cost.argmin(axis=1) + np.arange(TRIALS) * cost.shape[1]
        best = best[cost.min(axis=1) < np.inf]
        at = np.zeros((form.n_classes, len(best)), dtype=np.int64)
        at[[c for graph in graphs for c in graph.members]] = self._nodes[live.at[best].T]
        return at

    def _cost(self, graphs: list[GraphColumns], live: Partial) -> FloatArray:
        """Return (k,) F of placements, without its constant."""
        cost: FloatArray = live.used @ self._set_up
        first = 0
        for graph in graphs:
            own = slice(first, first := first + len(graph.members))
            cost = cost + graph.cost_of(live.at[:, own], graph.response(live.finish[:, own]))
        return cost
