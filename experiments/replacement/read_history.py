"""Availabilities that were read in the last cycles: their means, and what of these is no noise.

Delays, speeds and prices are read exactly, so that they count as they were read last.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.replacement.alike import alike, since_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import FloatArray

Key = tuple[str, ...]
"""Name of a node, or of both ends of a link."""


class ReadHistory:
    """What was read of nodes and of links, each since it last changed.

    Args:
        window: Cycles whose readings count (>= 1).
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._read: dict[Key, Sequence[float]] = {}
        self._times = 0

    @property
    def repeated(self) -> bool:
        """Whether anything was read twice: before, it does not show what varies."""
        return self._times > 1

    def take(self, document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Add the readings of a cycle.

        Args:
            document: The instance as it was read; both directions of a link are alike.

        Returns:
            The instance with means in place of what was read, and with what `alike` makes of them.
        """
        self._times += 1
        network = document["network"]
        up = self._added({(node["name"],): node["availability"] for node in network["nodes"]})
        between = self._added(
            {
                (network["nodes"][u]["name"], network["nodes"][v]["name"]): network["link_availability"][u][v]
                for u, v in _pairs(network)
            }
        )
        means = (np.array([np.mean(read) for read in series]) for series in (up, between))
        return _with(document, *means), _with(document, alike(up), alike(between))

    def _added(self, values: Mapping[Key, float]) -> list[Sequence[float]]:
        """Return the readings of one kind, with these as the last ones."""
        read = [[*self._read.get(key, ()), value][-self._window :] for key, value in values.items()]
        kept = [since_change(own, read[:k] + read[k + 1 :]) for k, own in enumerate(read)]
        self._read.update(zip(values, kept, strict=True))
        return kept


def _pairs(network: Mapping[str, Any]) -> list[tuple[int, int]]:
    return list(combinations(range(len(network["nodes"])), 2))


def _with(document: dict[str, Any], up: FloatArray, between: FloatArray) -> dict[str, Any]:
    """Return the instance with other availabilities of nodes and of links."""
    changed = deepcopy(document)
    network = changed["network"]
    for node, value in zip(network["nodes"], up.tolist(), strict=True):
        node["availability"] = value
    links = network["link_availability"]
    for (u, v), value in zip(_pairs(network), between.tolist(), strict=True):
        links[u][v] = links[v][u] = value
    return changed
