"""Placements that make the best way through a pool cheaper, found beside it: so the pool grows where it pays.

What is good for several steps may be best in none of them: it costs a little more in each, and saves moves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.moving.neighbours import Neighbours
from scheduler.moving.weighed_pool import WeighedPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.moving.step_worth import StepWorth


def refined(
    weighed: WeighedPool, worth: StepWorth, start: IntArray, most: int, deadline: Deadline
) -> WeighedPool:
    """Return the pool with what makes its best way cheaper, until nothing does.

    Looked at are the neighbours of each placement on the way: one operator goes to another node, or all of a
    node do. Each is tried for as long as the way is there, and for each part of that in which conditions stay
    as they are.

    Complexity: O((n_ops + n_nodes in use) x n_nodes) evaluations per distinct step and placement on the way.

    Args:
        weighed: The pool so far.
        worth: What placements are worth.
        start: (n_ops,) where operators run now, with marks where they do not.
        most: Placements that may be added.
        deadline: When to stop.
    """
    left = most
    while left > 0 and not deadline.expired():
        found = _better(weighed, worth, start, deadline)[:left]
        if not found:
            break
        left -= len(found)
        weighed = WeighedPool(worth, start, np.column_stack([weighed.pool, *found]))
    return weighed


def _better(weighed: WeighedPool, worth: StepWorth, start: IntArray, deadline: Deadline) -> list[IntArray]:
    way = weighed.pool[:, weighed.at_steps(weighed.best())].T
    found: dict[tuple[int, ...], IntArray] = {}
    near: dict[bytes, Neighbours] = {}
    for first, last in _stretches(way, worth.of_step):
        if deadline.expired():
            break
        here = way[first]
        if here.tobytes() not in near:
            near[here.tobytes()] = Neighbours(worth, here)
        beside = near[here.tobytes()]
        options, counts = beside.placements, weighed.possible[first:last, None]
        cost = np.where(counts, beside.of_steps(first, last), 0.0).sum(axis=0)
        cost += worth.prices.from_one(start if first == 0 else way[first - 1], options)
        if last < len(way):
            cost += worth.prices.to_one(options, way[last])
        best = int(cost.argmin())
        if cost[best] < cost[0] - OBJECTIVE_STEP and weighed.place(options[:, best]) is None:
            found[tuple(options[:, best].tolist())] = options[:, best]
    return list(found.values())


def _stretches(way: IntArray, of_step: IntArray) -> Iterator[tuple[int, int]]:
    """Yield parts of the time, (first, last) without the last: one placement; one placement in like steps."""
    moves = (way[1:] != way[:-1]).any(axis=1)
    ends = [_parts(moves), _parts(moves | (of_step[1:] != of_step[:-1]))]
    yield from dict.fromkeys(part for parts in ends for part in parts)


def _parts(breaks: IntArray) -> list[tuple[int, int]]:
    cuts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(breaks) + 1]
    return list(pairwise(cuts))
