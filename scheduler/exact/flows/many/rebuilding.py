"""Some graphs at a time taken out and placed again, one after the other, where they compete.

A worse placement is kept now and then, less often the longer it goes on (G. Schrimpf et al., "Record
breaking optimization results using the ruin and recreate principle", J. Comput. Phys. 159, 2000).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.many.one_graph import Spot
    from scheduler.exact.flows.many.placed import Placed
    from scheduler.exact.flows.many.pricing import Pricing, Tariff

TAKEN_OUT = (2, 8)
"""Graphs that are taken out together, least and most."""
WORSE = 0.06
"""How much worse a placement may be that is kept at first, on average, in costs of a mean graph."""
PRICED = (0.5, 1.0)
"""Parts of the prices at which graphs are placed again, if at any; one is drawn."""
CASES = 12
"""As of `best_spot`."""


def rebuild(
    placed: Placed,
    pricing: Pricing,
    shares: FloatArray,
    random: np.random.Generator,
    deadline: Deadline,
    *,
    most: int,
    better: Callable[[], None],
) -> None:
    """Improve a placement, and leave the best one that was found.

    Args:
        placed: Where all graphs are.
        pricing: Its graphs at prices.
        shares: (n_rows,) prices of whole rows.
        random: What is taken out, and in which order it comes back.
        deadline: When to stop.
        most: Sets of graphs.
        better: Is called after each better placement.
    """
    scarce = _Scarce(placed, pricing, shares)
    mean = placed.cost() / len(placed.graphs)
    now = least = placed.cost()
    best = dict(placed.spots)
    begun = deadline.remaining()
    for turn in range(most):
        if deadline.expired():
            break
        cold = turn / most if deadline.unlimited else max(turn / most, 1.0 - deadline.remaining() / begun)
        graphs = scarce.graphs(random)
        before = {graph: placed.take(graph) for graph in graphs.tolist()}
        worth = sum(each.cost for each in before.values())
        allowed = worth - WORSE * mean * (1.0 - cold) * math.log(1.0 - random.random())
        after = _again(placed, graphs, scarce.tariff(random), allowed)
        if after is None:
            for graph, spot in before.items():
                placed.put(graph, spot)
            continue
        now += after - worth
        if now < least - 1e-9 * abs(least):
            least, best = now, dict(placed.spots)
            better()
    placed.set(best)


def _again(placed: Placed, graphs: IntArray, tariff: Tariff | None, most: float) -> float | None:
    """Place graphs again, and return what they cost; or leave them nowhere and return None."""
    cost = 0.0
    done: list[int] = []
    for graph in graphs.tolist():
        spot: Spot | None = placed.find(graph, tariff, CASES)
        if spot is None or cost + spot.cost > most:
            for each in done:
                placed.take(each)
            return None
        placed.put(graph, spot)
        done.append(graph)
        cost += spot.cost
    return cost


class _Scarce:
    """What has a price, and the graphs that use it or would like to.

    Args:
        placed: Where graphs are.
        pricing: The graphs at prices.
        shares: (n_rows,) the prices.
    """

    def __init__(self, placed: Placed, pricing: Pricing, shares: FloatArray) -> None:
        self._placed = placed
        self._sums = np.cumsum(shares)
        self._tariffs = [None, *(pricing.tariff(part * shares) for part in PRICED)]
        self._wanting: list[set[int]] = [set() for _ in shares]
        whole = pricing.tariff(shares)
        for graph in placed.graphs.tolist():
            spot = placed.find(graph, whole, CASES, alone=True)
            for row in [] if spot is None else spot.rows.tolist():
                self._wanting[row].add(graph)

    def graphs(self, random: np.random.Generator) -> IntArray:
        """Return some graphs in random order that use, or would like to use, the same; or any."""
        most = int(random.integers(TAKEN_OUT[0], TAKEN_OUT[1] + 1))
        if self._sums[-1] <= 0:
            return random.permutation(self._placed.graphs)[:most]
        row = int(np.searchsorted(self._sums, random.random() * self._sums[-1], side="right"))
        return random.permutation(sorted(self._placed.users[row] | self._wanting[row]))[:most]

    def tariff(self, random: np.random.Generator) -> Tariff | None:
        """Return a part of the prices; None for nothing of them."""
        return self._tariffs[int(random.integers(len(self._tariffs)))]
