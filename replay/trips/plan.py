"""When trips begin and end, where they go and which taxi drives them: one taxi day, 05:00 to 05:00.

Days are made independently of each other, on any executor, and yet no taxi drives two trips at once:

* Each hour (of the drop-off) has streams of its own, so any of it can be made again anywhere.
* Trips under way at 05:00, when few are, belong to the day in which they end. Their taxis are the first of
  that day's shuffled fleet. The day before knows them too, as it can make the first hours of the next day,
  and leaves these taxis at home, but for their trips that were under way at its own beginning.
* Within the day a pick-up takes the taxi that has waited longest since it was ready (some time after its
  drop-off), or a fresh one if none is ready. Who takes whose taxi is a matter of counting: the m-th pick-up
  that needs no fresh taxi takes the m-th taxi that became ready. So the chains of a day are found by sorting,
  without a loop over trips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from replay.trips.rates import HOURS, MINUTES, trips_per_minute

if TYPE_CHECKING:
    from replay.trips.city import City
    from replay.trips.settings import Settings
    from scheduler.base.arrays import BoolArray, IntArray

BOUNDARY_HOUR = 5
HOUR_S = 3600
MINUTE_S = 60

DURATION_BY_LENGTH = 0.77
"""Rank correlation of duration and length in the real rows."""
_SOUGHT_ROUTES = 8
_SOUGHT = 0.0075
"""Share of trips on a few routes that are sought after for an hour. With routes of one frequency alone the
first ranks of query 1 would have lower counts than in the real rows, and change more often."""
_ZERO_DURATION = 0.003
_SECONDS_VENDOR = 0.488
"""Share of taxis whose clock shows seconds; of their times one in 60 is a whole minute by chance."""
_SHORTEST_IDLE_S = 60
"""More than a minute between trips remains one when a clock shows whole minutes."""
_IDLE_S = 125.0
_IDLE_SIGMA = 1.4
_BREAK = 0.02
_LONGEST_BREAK_S = 6 * HOUR_S


@dataclass(frozen=True)
class Trips:
    """Trips in the order of their drop-offs, one element per trip.

    Attributes:
        pickup_s: Seconds since 1970.
        dropoff_s: Seconds since 1970.
        route: Place in the city's routes.
        taxi: Number of the taxi from 0; a few may lie beyond the fleet.
    """

    pickup_s: IntArray
    dropoff_s: IntArray
    route: IntArray
    taxi: IntArray

    def part(self, chosen: slice | IntArray) -> Trips:
        """Return some of the trips."""
        return Trips(self.pickup_s[chosen], self.dropoff_s[chosen], self.route[chosen], self.taxi[chosen])


def day_plan(settings: Settings, city: City, day: int) -> Trips:
    """Return the trips that end in a taxi day, as the taxis' clocks show them.

    Args:
        settings: Seed and rate.
        city: Routes.
        day: Days since 1970; the taxi day begins at 05:00 of it.
    """
    first_hour = day * HOURS + BOUNDARY_HOUR
    pickup, dropoff, route = _hours(settings, city, first_hour, HOURS)
    away = _away_at_end(settings, city, day)
    taxi = _taxis(settings, day, pickup, dropoff, away)
    whole_minutes = ~_shows_seconds(settings)[taxi % settings.taxis]
    for times in (pickup, dropoff):
        times[whole_minutes] -= times[whole_minutes] % MINUTE_S
    reported = Trips(pickup, dropoff, route, taxi)
    return reported.part(_order(dropoff, first_hour))


def _hours(settings: Settings, city: City, first: int, hours: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return pick-ups and drop-offs (s, exact) and routes of the trips that end in some hours, in order."""
    made = [_hour(settings, city, hour) for hour in range(first, first + hours)]
    pickup, dropoff, route = (np.concatenate(parts) for parts in zip(*made, strict=True))
    return pickup, dropoff, route


def _hour(settings: Settings, city: City, hour: int) -> tuple[IntArray, IntArray, IntArray]:
    counts = trips_per_minute(settings, hour)
    rows = int(counts.sum())
    stream = settings.stream("trips", hour)
    second = np.repeat(np.arange(MINUTES, dtype=np.int16) * MINUTE_S, counts)
    second = np.sort(second + stream.integers(0, MINUTE_S, rows, dtype=np.int16), kind="stable")
    dropoff = second + np.int64(hour * HOUR_S)
    route = city.slots[stream.integers(0, len(city.slots), rows)]
    sought = city.slots[stream.integers(0, len(city.slots), _SOUGHT_ROUTES)]
    there = np.flatnonzero(stream.random(rows) < _SOUGHT)
    route[there] = sought[stream.integers(0, _SOUGHT_ROUTES, len(there))]
    own = stream.standard_normal(rows)
    score = DURATION_BY_LENGTH * city.length_score[route] + np.sqrt(1 - DURATION_BY_LENGTH**2) * own
    duration = np.rint(city.durations(score)).astype(np.int64)
    duration[stream.random(rows) < _ZERO_DURATION] = 0
    return dropoff - duration, dropoff, route


def _away_at_end(settings: Settings, city: City, day: int) -> IntArray:
    """Return the taxis that are under way when a taxi day ends."""
    end = (day + 1) * HOURS + BOUNDARY_HOUR
    pickup, _, _ = _hours(settings, city, end, -(-city.longest_s // HOUR_S))
    return _fleet(settings, day + 1)[: int((pickup < end * HOUR_S).sum())]


def _fleet(settings: Settings, day: int) -> IntArray:
    return settings.stream("taxis", day).permutation(settings.taxis)


def _shows_seconds(settings: Settings) -> BoolArray:
    return settings.stream("vendors").random(settings.taxis) < _SECONDS_VENDOR


def _taxis(settings: Settings, day: int, pickup: IntArray, dropoff: IntArray, away: IntArray) -> IntArray:
    """Return a taxi per trip of a taxi day; arguments as the docstring of this file explains."""
    fleet = _fleet(settings, day)
    under_way = pickup < (day * HOURS + BOUNDARY_HOUR) * HOUR_S
    opening = np.flatnonzero(under_way)
    stays_away = np.zeros(settings.taxis, dtype=np.bool_)
    stays_away[away] = True

    at_work = np.ones(len(pickup), dtype=np.bool_)
    at_work[opening[stays_away[fleet[: len(opening)]]]] = False
    ready = dropoff + _idle(settings, day, len(dropoff))
    by_ready = np.flatnonzero(at_work)[np.argsort(ready[at_work], kind="stable")]
    asking = np.flatnonzero(~under_way)
    by_pickup = asking[np.argsort(pickup[asking], kind="stable")]

    waiting = np.searchsorted(ready[by_ready], pickup[by_pickup], side="right")
    most_fresh = np.maximum.accumulate(np.maximum(np.arange(1, len(by_pickup) + 1) - waiting, 0))
    fresh = np.diff(most_fresh, prepend=0) > 0
    before = np.arange(len(pickup))
    followers = by_pickup[~fresh]
    before[followers] = by_ready[: len(followers)]
    first = _first_of_chain(before)

    resting = fleet[len(opening) :]
    resting = resting[~stays_away[resting]]
    fresh_count = int(fresh.sum())
    beyond = np.arange(settings.taxis, settings.taxis + max(0, fresh_count - len(resting)))
    taxi = np.zeros(len(pickup), dtype=np.int64)
    taxi[opening] = fleet[: len(opening)]
    taxi[by_pickup[fresh]] = np.concatenate([resting, beyond])[:fresh_count]
    return taxi[first]


def _idle(settings: Settings, day: int, rows: int) -> IntArray:
    """Return how long each taxi is not ready after its trip, in seconds: some minutes, or a break."""
    stream = settings.stream("idle", day)
    idle = _SHORTEST_IDLE_S + _IDLE_S * np.exp(_IDLE_SIGMA * stream.standard_normal(rows))
    breaks = np.flatnonzero(stream.random(rows) < _BREAK)
    idle[breaks] += stream.uniform(0, _LONGEST_BREAK_S, len(breaks))
    return np.ceil(idle).astype(np.int64)


def _first_of_chain(before: IntArray) -> IntArray:
    """Return the first trip of each trip's chain; the first trips stand before themselves."""
    while True:
        further = before[before]
        if np.array_equal(further, before):
            return before
        before = further


def _order(dropoff: IntArray, first_hour: int) -> IntArray:
    """Return the places of trips by drop-off, ties as they stand; whole minutes leave no trip its hour."""
    return np.argsort((dropoff - first_hour * HOUR_S).astype(np.int32), kind="stable")
