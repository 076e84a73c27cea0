"""What a made-up trip's report says besides times and taxi: places, distance, money, and its faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.taxi_grid import CELL_LATITUDE, CELL_LONGITUDE, ORIGIN_LATITUDE, ORIGIN_LONGITUDE
from replay.trips.money import money
from replay.trips.plan import DURATION_BY_LENGTH, HOUR_S, MINUTE_S
from replay.trips.rates import HOURS
from replay.trips.table import COORDINATES

if TYPE_CHECKING:
    from replay.trips.city import City
    from replay.trips.plan import Trips
    from replay.trips.settings import Settings
    from scheduler.base.arrays import FloatArray, IntArray

CELL_MILES = 500 / 1609.344

_MICRO = 1e6
_ODD_PLACES = (0.004, 0.011)
"""Share of pick-ups and of drop-offs somewhere around their cell instead of in it."""
_ODD_CELLS = 8.0
_DETOUR = 1.22
_EXTRA_MILES = 0.06
_DETOUR_SIGMA = 0.13
_DETOUR_BY_DURATION = 0.3
_ROUND_TRIPS = 0.04
_ZERO_DISTANCE = 0.0035
_ZERO_COORDINATES = 0.02
_ALL_FOUR = 0.88
_DROPOFF_ONLY = 0.085
_OFF_GRID = 0.00015
_WRONG_TRIP_TIME = 0.003
_DAY_SHIFT = (5, 17)


def details(settings: Settings, city: City, hour: int, trips: Trips) -> dict[str, np.ndarray]:
    """Return the columns of the trips that end in one hour, by the table's names.

    `medallion`, `hack_license` and `payment_type` are numbers: taxi, driver, place in `money.PAYMENTS`.

    Args:
        settings: Seed.
        city: Routes.
        hour: Hours since 1970.
        trips: All trips that end in this hour, in their order.
    """
    stream = settings.stream("details", hour)
    coordinates = _coordinates(stream, city.cells[trips.route])
    duration = trips.dropoff_s - trips.pickup_s
    longer = np.log(
        np.maximum(duration, MINUTE_S) / city.durations(DURATION_BY_LENGTH * city.length_score[trips.route])
    )
    distance = _distance(stream, coordinates, longer)
    payment, amounts = money(stream, trips.pickup_s, duration, distance)
    _spoil(stream, coordinates)
    begins = trips.pickup_s // HOUR_S % HOURS
    night = (begins < _DAY_SHIFT[0]) | (begins >= _DAY_SHIFT[1])
    return {
        "medallion": trips.taxi,
        "hack_license": 2 * trips.taxi + night,
        "pickup_s": trips.pickup_s,
        "dropoff_s": trips.dropoff_s,
        "trip_time_in_secs": _report_duration(stream, duration),
        "trip_distance": distance,
        **{name: coordinates[:, place] for place, name in enumerate(COORDINATES)},
        "payment_type": payment,
        **amounts,
    }


def _coordinates(stream: np.random.Generator, cells: IntArray) -> FloatArray:
    """Return longitude and latitude of both ends, anywhere in their cells, shape (trips, 4)."""
    place = cells - 0.5 - stream.random(cells.shape)
    for end, share in enumerate(_ODD_PLACES):
        odd = np.flatnonzero(stream.random(len(place)) < share)
        place[odd, 2 * end : 2 * end + 2] += _ODD_CELLS * stream.standard_normal((len(odd), 2))
    coordinates = np.empty_like(place)
    coordinates[:, 0::2] = ORIGIN_LONGITUDE + CELL_LONGITUDE * place[:, 0::2]
    coordinates[:, 1::2] = ORIGIN_LATITUDE - CELL_LATITUDE * place[:, 1::2]
    return np.rint(coordinates * _MICRO) / _MICRO


def _distance(stream: np.random.Generator, coordinates: FloatArray, longer: FloatArray) -> FloatArray:
    """Return the miles driven, to a hundredth: the straight line with a detour, for some a long one.

    Args:
        stream: Random numbers.
        coordinates: Of both ends, shape (trips, 4).
        longer: Logarithm of the duration over the usual one of this length; who takes longer drives further.
    """
    rows = len(coordinates)
    east = (coordinates[:, 2] - coordinates[:, 0]) / CELL_LONGITUDE
    south = (coordinates[:, 3] - coordinates[:, 1]) / CELL_LATITUDE
    straight = np.hypot(east, south) * CELL_MILES
    detour = _DETOUR_BY_DURATION * longer + _DETOUR_SIGMA * stream.standard_normal(rows)
    miles = _EXTRA_MILES + _DETOUR * straight * np.exp(detour)
    rounds = np.flatnonzero(stream.random(rows) < _ROUND_TRIPS)
    miles[rounds] += stream.exponential(2.0, len(rounds))
    miles[stream.random(rows) < _ZERO_DISTANCE] = 0.0
    return np.rint(miles * 100) / 100


def _spoil(stream: np.random.Generator, coordinates: FloatArray) -> None:
    """Put zeros or places off the grid into some rows."""
    chance = stream.random(len(coordinates))
    kind = chance / _ZERO_COORDINATES
    coordinates[kind < _ALL_FOUR + _DROPOFF_ONLY, 2:] = 0.0
    coordinates[(kind < _ALL_FOUR) | ((kind >= _ALL_FOUR + _DROPOFF_ONLY) & (kind < 1.0)), :2] = 0.0
    off = np.flatnonzero(chance > 1.0 - _OFF_GRID)
    # one degree further north or west than any cell is
    coordinates[off, 2] = np.rint((coordinates[off, 2] - 2.5) * _MICRO) / _MICRO


def _report_duration(stream: np.random.Generator, duration: IntArray) -> np.ndarray:
    """Return the column `trip_time_in_secs`: the duration, for few rows a second or two more."""
    reported = duration.astype(np.int32)
    wrong = np.flatnonzero(stream.random(len(reported)) < _WRONG_TRIP_TIME)
    reported[wrong] += stream.integers(1, 3, len(wrong), dtype=np.int32)
    return reported
