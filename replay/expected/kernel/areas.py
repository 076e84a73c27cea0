"""Query 2 over one block: how the profitability of areas changes, for all trips at once.

Medians and the freshest empty taxi depend on order in ways that arrays do not help with: these two are kept
by a loop over the events of each area, with short sorted lists.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from replay.expected.kernel.ranking import ABSENT, Changes
from replay.expected.query2 import whole_cents

if TYPE_CHECKING:
    from formats.semantics import Semantics
    from replay.expected.kernel.stops import Stops
    from scheduler.base.arrays import BoolArray, IntArray

PROFIT_WINDOW_S = 900
EMPTY_WINDOW_S = 1800
_PROFIT_IN, _PROFIT_OUT, _EMPTY_IN, _EMPTY_OUT = range(4)


@dataclass(frozen=True, eq=False)
class Rides:
    """What query 2 looks at of a block's trips.

    Attributes:
        taxi: (n_trips,) taxi of each trip, from 0 on.
        start: (n_trips,) area where it began, from 0 on in the order of the areas' numbers.
        end: (n_trips,) area where it ended.
        cents: (n_trips,) fare and tip.
    """

    taxi: IntArray
    start: IntArray
    end: IntArray
    cents: IntArray


@dataclass(frozen=True, eq=False)
class AreaStates:
    """The states of areas, in the order of `Changes`.

    Attributes:
        empty: (n_changes,) empty taxis.
        twice_median: (n_changes,) twice the median profit, in cents; 0 without any trip.
    """

    empty: IntArray
    twice_median: IntArray


def area_changes(stops: Stops, rides: Rides, areas: int, semantics: Semantics) -> tuple[Changes, AreaStates]:
    """Return every change of an area's profitability or freshness.

    Args:
        stops: The block's stops.
        rides: The block's trips.
        areas: Number of areas.
        semantics: Settings.
    """
    start, end = rides.start, rides.end
    number = np.arange(start.size)
    paying = number if semantics.negative_profit == "kept" else np.flatnonzero(rides.cents >= 0)
    last = stops.clock.size
    paid_until = stops.expiry(PROFIT_WINDOW_S)[paying]
    empty_until = np.minimum(stops.expiry(EMPTY_WINDOW_S), _next_ride(stops, rides.taxi))
    parts = [
        (_PROFIT_IN, start[paying], stops.of_row[paying], paying),
        (_PROFIT_OUT, start[paying], paid_until, paying),
        (_EMPTY_IN, end, stops.of_row, number),
        (_EMPTY_OUT, end, empty_until, number),
    ]
    area = np.concatenate([each[1] for each in parts])
    stop = np.concatenate([each[2] for each in parts])
    trip = np.concatenate([each[3] for each in parts])
    kind = np.concatenate([np.full(each[1].size, each[0]) for each in parts])
    happens = np.flatnonzero((stop < last) & _ever_listed(end, areas)[area])
    when = area[happens] * last + stop[happens]
    happens = happens[np.argsort(when, kind="stable")]
    area, stop, trip, kind = area[happens], stop[happens], trip[happens], kind[happens]
    complete = np.ones(happens.size, dtype=bool)  # the last event of an area at a stop
    complete[:-1] = (area[1:] != area[:-1]) | (stop[1:] != stop[:-1])
    walked = _walk(area, trip, kind, rides.cents, complete)
    return _changes(area[complete], stop[complete], walked, areas, semantics)


def _next_ride(stops: Stops, taxi: IntArray) -> IntArray:
    """Return (n_trips,) the stop at which the taxi's next trip is taken in; n_stops if there is none."""
    order = np.argsort(taxi, kind="stable")
    following = np.full(taxi.size, stops.clock.size, dtype=np.int64)
    same = taxi[order[1:]] == taxi[order[:-1]]
    following[order[:-1][same]] = stops.of_row[order[1:][same]]
    return following


def _ever_listed(end: IntArray, areas: int) -> BoolArray:
    """Return (areas,) whether a taxi was ever empty there: other areas are never listed."""
    ever: BoolArray = np.bincount(end, minlength=areas) > 0
    return ever


class _Walked(NamedTuple):
    """States of areas, by area and stop: one entry for each stop at which the area changes.

    Attributes:
        empty: Empty taxis.
        middle: Sum of the middle two profits, None without any trip.
        fresh: Freshest trip, -1 without any.
    """

    empty: list[int]
    middle: list[int | None]
    fresh: list[int]


def _walk(area: IntArray, trip: IntArray, kind: IntArray, cents: IntArray, complete: BoolArray) -> _Walked:
    """Go through the events of each area, and note its state where its events of a stop are complete."""
    counts: list[int] = []
    middles: list[int | None] = []
    freshest: list[int] = []
    profits: list[int] = []
    taxis: list[int] = []
    newest_paying, before = -1, -1
    amounts = cents[trip].tolist()
    events = zip(area.tolist(), trip.tolist(), kind.tolist(), amounts, complete.tolist(), strict=True)
    for place, number, what, amount, ends in events:
        if place != before:
            profits, taxis, before = [], [], place
        if what == _PROFIT_IN:
            insort(profits, amount)
            newest_paying = number
        elif what == _PROFIT_OUT:
            del profits[bisect_left(profits, amount)]
        elif what == _EMPTY_IN:
            taxis.append(number)
        else:
            del taxis[bisect_left(taxis, number)]
        if ends:
            counts.append(len(taxis))
            size = len(profits)
            fresh = taxis[-1] if taxis else -1
            if size:
                middles.append(profits[size >> 1] + profits[(size - 1) >> 1])
                freshest.append(max(fresh, newest_paying))
            else:
                middles.append(None)
                freshest.append(fresh)
    return _Walked(counts, middles, freshest)


def _changes(
    area: IntArray, stop: IntArray, walked: _Walked, areas: int, semantics: Semantics
) -> tuple[Changes, AreaStates]:
    """Put the states of all areas in order of time."""
    empty = np.array(walked.empty, dtype=np.int64)
    idle = np.array([each is None for each in walked.middle], dtype=bool)
    median = np.array([each or 0 for each in walked.middle], dtype=np.int64)
    if semantics.median == "cents":
        median = 2 * (np.sign(median) * (np.abs(median) // 2))
    listed = (empty > 0) & (~idle if semantics.idle_areas == "hidden" else True)
    level = np.full(area.size, ABSENT)
    level[listed] = median[listed] / empty[listed]
    if semantics.profitability == "cents":
        level[listed] = whole_cents(median[listed], empty[listed])
    order = np.argsort(stop, kind="stable")
    label = area
    if semantics.q2_emit == "values":
        label = np.unique(np.stack([area, empty, median]), axis=1, return_inverse=True)[1].ravel()
    changes = Changes(
        stop=stop[order],
        entity=area[order],
        level=level[order],
        fresh=np.array(walked.fresh, dtype=np.int64)[order],
        label=label[order],
        entities=areas,
    )
    return changes, AreaStates(empty[order], median[order])
