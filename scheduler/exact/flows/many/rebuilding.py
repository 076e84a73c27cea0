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
    from scheduler.exact.flows.many.placed import Placed

TAKEN_OUT = 6
"""Graphs that are taken out together at most."""
WORSE = 0.06
"""How much worse a placement may be that is kept at first, on average, in costs of a mean graph."""
NOISE = 0.2
"""How much more than they do places cost at most, relative, when a graph looks where it would like to be."""
RANKED = 50
"""Sets after which graphs are ranked anew."""
CASES = 12
"""As of `best_spot`."""


def rebuild(
    placed: Placed,
    least: FloatArray,
    random: np.random.Generator,
    deadline: Deadline,
    *,
    most: int,
    better: Callable[[], None],
) -> None:
    """Improve a placement, and leave the best one that was found.

    Args:
        placed: Where all graphs are.
        least: (n_graphs,) what each costs at least at prices.
        random: What is taken out, and in which order it comes back.
        deadline: When to stop.
        most: Sets of graphs.
        better: Is called after each better placement.
    """
    mean = placed.cost() / len(placed.graphs)
    now = lowest = placed.cost()
    best = dict(placed.spots)
    begun = deadline.remaining()
    sums = np.zeros(0)
    for turn in range(most):
        if deadline.expired():
            break
        cold = turn / most if deadline.unlimited else max(turn / most, 1.0 - deadline.remaining() / begun)
        if turn % RANKED == 0:
            # what graphs cost beyond that is what may be gained, but for what stays empty
            over = [placed.spots[graph].priced - least[graph] for graph in placed.graphs.tolist()]
            sums = np.cumsum(np.maximum(over, 0.0))
            if sums[-1] <= 0:
                break
        first = placed.graphs[np.searchsorted(sums, random.random() * sums[-1], side="right")]
        graphs = _competing(placed, int(first), random)
        before = {graph: placed.take(graph) for graph in graphs}
        worth = sum(each.cost for each in before.values())
        allowed = worth - WORSE * mean * (1.0 - cold) * math.log(1.0 - random.random())
        after = _again(placed, graphs, allowed)
        if after is None:
            for graph, spot in before.items():
                placed.put(graph, spot)
            continue
        now += after - worth
        if now < lowest - 1e-9 * abs(lowest):
            lowest, best = now, dict(placed.spots)
            better()
    placed.set(best)


def _competing(placed: Placed, graph: int, random: np.random.Generator) -> list[int]:
    """Return a graph and some that are in its way where it would like to be, or use the same."""
    near = placed.near(graph)
    extra = NOISE * random.random(near.priced.shape) * near.priced
    spot = placed.spots[graph]
    wish = placed.alone(graph, CASES, extra) or spot
    placed.take(graph)
    rows = placed.lacking(wish)
    placed.put(graph, spot)
    using = set().union(*(placed.users[row] for row in (rows if len(rows) else wish.rows).tolist()))
    others: IntArray = random.permutation(np.array(sorted(using - {graph}), dtype=np.int64))
    return [graph, *others[: TAKEN_OUT - 1].tolist()]


def _again(placed: Placed, graphs: list[int], most: float) -> float | None:
    """Place graphs again, and return what they cost; or leave them nowhere and return None."""
    cost = 0.0
    rest = sum(placed.near(graph).least_cost for graph in graphs)
    done: list[int] = []
    for graph in graphs:
        rest -= placed.near(graph).least_cost
        spot = placed.find(graph, CASES)
        if spot is None or cost + spot.cost + rest > most:
            for each in done:
                placed.take(each)
            return None
        placed.put(graph, spot)
        done.append(graph)
        cost += spot.cost
    return cost
