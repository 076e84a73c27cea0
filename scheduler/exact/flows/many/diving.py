"""A first placement: graph by graph at prices; a graph that finds no room makes others leave."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from scheduler.base.work import require_time

if TYPE_CHECKING:
    import numpy as np

    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.many.placed import Placed
    from scheduler.exact.flows.many.pricing import Tariff

CASES = 40
"""As of `best_spot`."""
TRIES = 50
"""How often a graph may make others leave."""


def dive(placed: Placed, tariff: Tariff, random: np.random.Generator, deadline: Deadline) -> bool:
    """Place all graphs; return whether each has found a spot.

    A graph that finds none gets the spot that it would have alone. Of the graphs that use what it lacks
    there, those that were stuck least often have to find other spots.

    Args:
        placed: Where no graph is yet.
        tariff: Prices at which spots are compared.
        random: The order.
        deadline: When to stop.

    Raises:
        OutOfTimeError: The deadline has expired.
    """
    queue = deque(random.permutation(placed.graphs).tolist())
    stuck = Counter[int]()
    while queue:
        require_time(deadline)
        graph = queue.popleft()
        spot = placed.find(graph, tariff, CASES)
        if spot is None:
            stuck[graph] += 1
            spot = placed.find(graph, tariff, CASES, alone=True)
            if spot is None or stuck[graph] > TRIES:
                return False
            while len(lacking := placed.lacking(spot)):
                using = random.permutation(sorted(placed.users[int(lacking[0])])).tolist()
                leaving = min(using, key=lambda each: stuck[each])
                placed.take(leaving)
                queue.append(leaving)
        placed.put(graph, spot)
    return True
