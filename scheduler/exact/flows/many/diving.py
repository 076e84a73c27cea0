"""A first placement: graph by graph at prices; a graph that finds no room makes others leave."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from scheduler.base.work import require_time

if TYPE_CHECKING:
    import numpy as np

    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.many.placed import Placed

CASES = 40
"""As of `best_spot`."""
TRIES = 50
"""How often a graph may make others leave."""


def dive(placed: Placed, random: np.random.Generator, deadline: Deadline) -> bool:
    """Place all graphs; return whether each has found a spot.

    A graph that finds none looks around. If that does not help it gets the spot that it would have alone. Of
    the graphs that use what it lacks there, those that were stuck least often have to find other spots.

    Args:
        placed: Where no graph is yet.
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
        spot = placed.find(graph, CASES)
        if spot is None:
            placed.look_around(graph)
            spot = placed.find(graph, CASES)
        if spot is None:
            stuck[graph] += 1
            spot = placed.alone(graph, CASES)
            if spot is None or stuck[graph] > TRIES:
                return False
            while len(lacking := placed.lacking(spot)):
                using = random.permutation(sorted(placed.users[int(lacking[0])])).tolist()
                leaving = min(using, key=lambda each: stuck[each])
                placed.take(leaving)
                queue.append(leaving)
        placed.put(graph, spot)
    return True
