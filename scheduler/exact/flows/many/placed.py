"""Graphs in their spots, and what they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.many.near import Near
from scheduler.exact.flows.many.one_graph import Spot, best_spot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.many.pricing import Pricing, Tariff


class Placed:
    """Graphs, some of which have a spot.

    Attributes:
        graphs: (n_graphs,) those that have free blocks.
        spots: By graph, where it is; those that are nowhere are not in it.
        left: (n_rows + 1,) what is left of the rows.
        users: By row, the graphs that use some of it.

    Args:
        pricing: All graphs.
        tariff: Prices at which spots are compared.
        near: Places of each graph that has free blocks, at these prices.
    """

    def __init__(self, pricing: Pricing, tariff: Tariff, near: Mapping[int, Near]) -> None:
        self._pricing = pricing
        self._tariff = tariff
        self._near = dict(near)
        self.graphs = np.array(sorted(near), dtype=np.int64)
        self.set({})

    def set(self, spots: dict[int, Spot]) -> None:
        """Put graphs in spots, and all others nowhere; what is left is counted anew."""
        self.spots: dict[int, Spot] = {}
        self.left: FloatArray = self._pricing.stock.room.copy()
        self.users: list[set[int]] = [set() for _ in range(self._pricing.stock.n_rows)]
        for graph, spot in spots.items():
            self.put(graph, spot)

    def find(self, graph: int, cases: int) -> Spot | None:
        """Return the best spot in what is left of a graph that is nowhere; cases are as of `best_spot`."""
        return best_spot(self._pricing, self._near[graph], self.left, cases)

    def alone(self, graph: int, cases: int, extra: FloatArray | None = None) -> Spot | None:
        """Return the best spot of a graph if no other one were anywhere.

        Args:
            graph: Which.
            cases: As of `best_spot`.
            extra: As of `best_spot`.
        """
        return best_spot(self._pricing, self._near[graph], self._pricing.stock.room.copy(), cases, extra)

    def look_around(self, graph: int) -> None:
        """Look from now on at other places of a graph that is nowhere: those where it has room now."""
        self._near[graph] = Near.of(self._pricing, graph, self._tariff, self.left)

    def near(self, graph: int) -> Near:
        """Return the places of a graph that are looked at."""
        return self._near[graph]

    def put(self, graph: int, spot: Spot) -> None:
        """Put a graph that is nowhere in a spot."""
        np.subtract.at(self.left, spot.rows, spot.amounts)
        self.spots[graph] = spot
        for row in spot.rows.tolist():
            self.users[row].add(graph)

    def take(self, graph: int) -> Spot:
        """Take a graph out of its spot."""
        spot = self.spots.pop(graph)
        np.add.at(self.left, spot.rows, spot.amounts)
        for row in spot.rows.tolist():
            self.users[row].discard(graph)
        return spot

    def lacking(self, spot: Spot) -> IntArray:
        """Return the rows of which too little is left for a spot."""
        return self._pricing.stock.lacking(self.left, spot.rows, spot.amounts)

    def cost(self) -> float:
        """Return the cost of all spots."""
        return sum(each.cost for each in self.spots.values())

    def at(self) -> IntArray:
        """Return (n_blocks,) where all blocks are, -1 for nowhere."""
        at = np.full(self._pricing.form.n_blocks, -1)
        for parts in self._pricing.graphs:
            at[parts.settled] = parts.at
        for graph, spot in self.spots.items():
            at[self._pricing.graphs[graph].free] = spot.nodes
        return at
