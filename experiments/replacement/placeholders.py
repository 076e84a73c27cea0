"""Readings that say something else in each cycle although nothing changes.

The runtime of paper 001 served random availabilities, drawn anew for each request: between 0.80 and 0.99 for
nodes and for links between runtimes, between 0.90 and 0.99 within one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

_MOST = 0.99


def placeholders(random: np.random.Generator) -> Callable[[dict[str, Any], int], None]:
    """Return a reader that draws each availability p anew, uniformly between 2 p - 0.99 and 0.99.

    So means stay as they are; a certain availability (1) stays certain. Both directions of a link are alike.
    """

    def drawn(mean: float) -> float:
        return mean if mean > _MOST else float(random.uniform(2 * mean - _MOST, _MOST))

    def read(document: dict[str, Any], _cycle: int) -> None:
        network = document["network"]
        for node in network["nodes"]:
            node["availability"] = drawn(node["availability"])
        links = network["link_availability"]
        for u, row in enumerate(links):
            for v in range(u):
                row[v] = links[v][u] = drawn(row[v])

    return read
