"""Placements of the first classes of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Partial:
    """Placements of the first classes of a graph, perhaps behind those of other graphs.

    Attributes:
        at: (k, placed) nodes.
        finish: (k, placed) when each class ends.
        priced: (k,) cost under prices, charges of nodes in use included, without R of this graph.
        load: (k, n_nodes, n_resources).
        used: (k, n_nodes) nodes with members.
        bound: (k,) of no completion is the cost under prices, charges included, below.
        trial: (k,) under which prices, if several are tried side by side.
    """

    at: IntArray
    finish: FloatArray
    priced: FloatArray
    load: FloatArray
    used: BoolArray
    bound: FloatArray
    trial: IntArray

    @staticmethod
    def nothing(capacity: FloatArray, trials: int = 1) -> Partial:
        """Return the only placement of no class on nodes with such capacities (n_nodes, n_resources)."""
        none, cost = np.zeros((trials, 0)), np.zeros(trials)
        load, used = np.zeros((trials, *capacity.shape)), np.zeros((trials, len(capacity)), dtype=np.bool_)
        return Partial(none.astype(np.int64), none, cost, load, used, cost, np.arange(trials))

    def chosen(self, which: IntArray | BoolArray) -> Partial:
        """Return some of them."""
        return Partial(
            self.at[which],
            self.finish[which],
            self.priced[which],
            self.load[which],
            self.used[which],
            self.bound[which],
            self.trial[which],
        )
