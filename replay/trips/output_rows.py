"""A plain count of query 1's output rows: how often the ten most frequent routes or their order change."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from replay.trips.arrays import IntArray

WINDOW_S = 1800
_LISTED = 10


@dataclass(frozen=True)
class WindowFigures:
    """Of query 1 over a sample.

    Attributes:
        changes_s: Drop-off of each trip that changes the ten routes or their order.
        trips: In the window after the last trip.
        counts: Of the routes in that window, descending.
    """

    changes_s: IntArray
    trips: int
    counts: list[int]


def window_figures(routes: IntArray, dropoff_s: IntArray) -> WindowFigures:
    """Count the trips of the last half hour by route, after each trip.

    Args:
        routes: A number per trip that stands for its route.
        dropoff_s: Ascending, seconds.
    """
    counts: Counter[int] = Counter()
    by_count: defaultdict[int, dict[int, None]] = defaultdict(dict)
    freshest: dict[int, int] = {}
    window: deque[tuple[int, int]] = deque()
    listed: list[int] = []
    changes = []

    def move(route: int, step: int) -> None:
        by_count[counts[route]].pop(route, None)
        counts[route] += step
        by_count[counts[route]][route] = None

    for n, (route, time_s) in enumerate(zip(routes.tolist(), dropoff_s.tolist(), strict=True)):
        while window and window[0][1] <= time_s - WINDOW_S:
            move(window.popleft()[0], -1)
        window.append((route, time_s))
        freshest[route] = n
        move(route, 1)
        best = _best(by_count, freshest)
        if best != listed:
            changes.append(time_s)
            listed = best
    return WindowFigures(np.array(changes), len(window), sorted((+counts).values(), reverse=True))


def _best(by_count: dict[int, dict[int, None]], freshest: dict[int, int]) -> list[int]:
    best: list[int] = []
    for count in sorted((count for count, routes in by_count.items() if count and routes), reverse=True):
        best += sorted(by_count[count], key=freshest.__getitem__, reverse=True)[: _LISTED - len(best)]
        if len(best) == _LISTED:
            break
    return best
