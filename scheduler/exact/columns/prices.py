"""Prices of what graphs share, under which each of them can be looked at alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Prices:
    """Multipliers of rows; whatever they are, the bounds that are made of them hold.

    Attributes:
        capacity: (n_nodes, n_resources) of a unit of capacity (>= 0).
        place: (n_classes, n_nodes) what a class pays for a node in use that it is on (>= 0). Several
            prices, tried side by side, are along a first axis more, here and in `capacity`.
        stream: Weight of each critical edge on the longest paths (>= 0), by its index.
        end: (n_classes,) weight of the paths that end at each class (>= 0).
    """

    capacity: FloatArray
    place: FloatArray
    stream: Mapping[int, float]
    end: FloatArray

    def restricted(self, nodes: IntArray) -> Prices:
        """Return the prices on some of the nodes, in the order given."""
        return replace(self, capacity=self.capacity[..., nodes, :], place=self.place[..., nodes])
