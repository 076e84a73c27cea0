"""The best nodes of one graph's blocks by dynamic programming, at prices; they need not fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.elimination import Elimination
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.flow_form import FlowForm


@dataclass(frozen=True, eq=False)
class Prices:
    """What using capacities and bandwidths costs.

    Attributes:
        capacity: (n_nodes, n_resources) F per unit.
        link: (n_links,) F per byte/s.
        along: (n_nodes, n_nodes) of the links of each route.
    """

    capacity: FloatArray
    link: FloatArray
    along: FloatArray

    @staticmethod
    def of(form: FlowForm, capacity: FloatArray, link: FloatArray) -> Prices:
        """Return prices with those of routes."""
        return Prices(capacity, link, form.underlay.along(link))


class GraphChoices:
    """One graph of a form; a block or a flow that does not fit by itself is not there.

    Attributes:
        blocks: (n_own,) its blocks.

    Args:
        form: The form.
        graph: Which graph.
    """

    def __init__(self, form: FlowForm, graph: int) -> None:
        self._form = form
        self.blocks = np.flatnonzero(form.graph == graph)
        position = {int(block): k for k, block in enumerate(self.blocks)}
        self._flows = np.flatnonzero(form.graph[form.ends[:, 0]] == graph)
        self._ends = [(position[a], position[b]) for a, b in form.ends[self._flows].tolist()]
        self._nodes = [np.flatnonzero(form.allowed[block]) for block in self.blocks]
        self._own = [
            np.where(
                (form.demand[block] <= form.capacity[nodes] + TOLERANCE).all(axis=1),
                form.unary[block, nodes],
                np.inf,
            )
            for block, nodes in zip(self.blocks.tolist(), self._nodes, strict=True)
        ]
        unlimited = np.full(len(form.bandwidth), np.inf) if form.by_pair else form.bandwidth
        room = np.append(unlimited + _slack(unlimited), np.inf)
        self._along = [
            self._pairs(f, i, j, room) for f, (i, j) in zip(self._flows.tolist(), self._ends, strict=True)
        ]

    def _pairs(self, f: int, i: int, j: int, room: FloatArray) -> FloatArray:
        """Return what a flow costs by its ends; infinite where a route has no room for it alone."""
        form = self._form
        cells = np.ix_(self._nodes[i], self._nodes[j])
        narrowest = room[form.underlay.route[:, cells[0], cells[1]]].min(axis=0, initial=np.inf)
        return np.where(narrowest >= form.flow[f], form.weight[f] * form.distance[cells], np.inf)

    def elimination(self, prices: Prices | None = None) -> Elimination:
        """Return the elimination of the blocks, at prices if there are any."""
        form = self._form
        if prices is None:
            return Elimination(self._own, list(zip(self._ends, self._along, strict=True)))
        own = [
            cost + prices.capacity[nodes] @ form.demand[block]
            for block, nodes, cost in zip(self.blocks.tolist(), self._nodes, self._own, strict=True)
        ]
        pairs = [
            ((i, j), cost + form.flow[f] * prices.along[np.ix_(self._nodes[i], self._nodes[j])])
            for f, (i, j), cost in zip(self._flows.tolist(), self._ends, self._along, strict=True)
        ]
        return Elimination(own, pairs)

    def nodes_of(self, choices: IntArray) -> IntArray:
        """Return (n_own,) the nodes of choices."""
        return np.array([nodes[k] for nodes, k in zip(self._nodes, choices.tolist(), strict=True)])

    def least_on_nodes(self, elimination: Elimination) -> FloatArray:
        """Return (n_own, n_nodes) what the graph costs at least with each block on each node."""
        least = np.full((len(self.blocks), self._form.n_nodes), np.inf)
        for k, values in enumerate(elimination.least_with()):
            least[k, self._nodes[k]] = values
        return least


def _slack(bandwidth: FloatArray) -> FloatArray:
    slack: FloatArray = TOLERANCE * np.maximum(1.0, np.where(np.isfinite(bandwidth), bandwidth, 0.0))
    return slack
