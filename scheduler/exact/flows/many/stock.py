"""What the graphs of a form share, in rows: capacities of nodes, then bandwidths of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.exact.flows.graph_parts import GraphParts

RowArray: TypeAlias = npt.NDArray[np.int32]
"""Rows of many links: half the memory of wider numbers."""


class Stock:
    """Capacities and bandwidths.

    Behind the last row is one of which there is always enough: routes have it where they have no further
    link.

    Attributes:
        whole: (n_rows,) what settled blocks, and flows between these, leave.
        room: (n_rows + 1,) the same, and as much more as amounts may differ.
        route: (n_layers, n_nodes, n_nodes) rows of the links of routes.

    Args:
        form: The form; bandwidth is that of links.
        graphs: Its graphs.
    """

    def __init__(self, form: FlowForm, graphs: Sequence[GraphParts]) -> None:
        self._n_resources = form.capacity.shape[1]
        n_capacities = form.capacity.size
        self.whole: FloatArray = np.concatenate([form.capacity.ravel(), form.bandwidth])
        route = np.where(form.underlay.route < 0, len(form.bandwidth), form.underlay.route)
        self.route: RowArray = (route + n_capacities).astype(np.int32)
        for each in graphs:
            np.subtract.at(self.whole, self.capacity_rows(each.at).ravel(), form.demand[each.settled].ravel())
            for flow, first, second in each.fixed.tolist():
                rows = self.route[:, first, second]
                rows = rows[rows < len(self.whole)]
                self.whole[rows] -= form.flow[flow]
        slack = TOLERANCE * np.maximum(1.0, np.where(np.isfinite(self.whole), self.whole, 0.0))
        self.room: FloatArray = np.append(self.whole + slack, np.inf)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.whole)

    def capacity_rows(self, nodes: IntArray) -> IntArray:
        """Return (..., n_resources) the rows of the capacities of nodes (...)."""
        rows: IntArray = nodes[..., None] * self._n_resources + np.arange(self._n_resources)
        return rows

    @staticmethod
    def lacking(left: FloatArray, rows: IntArray, amounts: FloatArray) -> IntArray:
        """Return the rows of which less is left (n_rows + 1,) than amounts (n,) of rows (n,) are together."""
        before = left[rows]
        np.subtract.at(left, rows, amounts)
        lacking: IntArray = rows[left[rows] < 0]
        left[rows] = before
        distinct: IntArray = np.unique(lacking)
        return distinct

    def narrowest(self) -> FloatArray:
        """Return (n_nodes, n_nodes) the room of the narrowest link of each route."""
        least = np.full(self.route.shape[1:], np.inf)
        for layer in self.route:
            np.minimum(least, self.room[layer], out=least)
        return least

    def along(self, prices: FloatArray) -> FloatArray:
        """Return (n_nodes, n_nodes) the sums of prices (n_rows + 1,) along routes."""
        total = np.zeros(self.route.shape[1:])
        for layer in self.route:
            total += prices[layer]
        return total
