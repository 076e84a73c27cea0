"""Query 1 over one block: how the counts of routes change, for all trips at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.expected.kernel.ranking import ABSENT, Changes
from replay.expected.query1 import WINDOW_S

if TYPE_CHECKING:
    from replay.expected.kernel.stops import Stops
    from scheduler.base.arrays import IntArray


def route_changes(stops: Stops, route: IntArray, routes: int, *, by_change: bool = False) -> Changes:
    """Return every change of a route's count: a trip ends, or one is half an hour old.

    Args:
        stops: The block's stops.
        route: (n_trips,) route of each trip, 0 to `routes` - 1.
        routes: Number of routes.
        by_change: Of equal counts the one that changed last is first, not the one with the freshest trip.
    """
    trips = route.size
    number = np.arange(trips)
    # trips by route, oldest first: (route, trip) as one number each, so that one search finds a place in it
    by_route = np.argsort(route, kind="stable")
    ordered = route[by_route] * (trips + 1) + by_route
    place = np.empty(trips, dtype=np.int64)
    place[by_route] = number

    expired = np.searchsorted(stops.times, stops.times - WINDOW_S, side="right")
    oldest = np.searchsorted(ordered, route * (trips + 1) + expired)
    added = place - oldest + 1

    gone_at = stops.expiry(WINDOW_S)
    gone = np.flatnonzero(gone_at < stops.clock.size)
    taken_in = np.searchsorted(stops.of_row, gone_at[gone], side="left")
    newest = np.searchsorted(ordered, route[gone] * (trips + 1) + taken_in) - 1
    left = newest - place[gone]

    if by_change:  # the trip with which the count changes, then the trip that comes or goes
        fresh = np.concatenate([taken_in, number]) * (trips + 1) + np.concatenate([gone, number])
    else:
        fresh = np.concatenate([by_route[newest], number])
    stop = np.concatenate([gone_at[gone], stops.of_row])
    order = np.argsort(stop, kind="stable")  # at one stop, what expires comes before the trip
    count = np.concatenate([left, added])[order]
    entity = np.concatenate([route[gone], route])[order]
    return Changes(
        stop=stop[order],
        entity=entity,
        level=np.where(count > 0, count, ABSENT).astype(np.float64),
        fresh=fresh[order],
        label=entity,
        entities=routes,
    )


def window_sizes(stops: Stops) -> IntArray:
    """Return (n_stops,) the number of trips in the window."""
    return stops.row + 1 - np.searchsorted(stops.times, stops.clock - WINDOW_S, side="right")
