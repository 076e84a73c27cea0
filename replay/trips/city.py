"""Where trips go: the probability of every route between cells, as a table to draw from.

Pick-ups and drop-offs per cell and the classes of lengths are the real rows' (`city.toml`). A route's
probability is pick-ups x drop-offs x a factor of its length x a factor of its own, balanced until the sums
over routes, over cells and over lengths are right. The factors of their own, spread evenly, make some routes
rare without making others frequent: without them made-up rows would repeat routes less often than real ones.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

CITY_FILE = Path(__file__).with_name("city.toml")

_LEAST_POPULAR = 0.1
_MOST_FREQUENT = 4.5e-4
"""No route has a larger share: the real ones' most frequent had 35 of 45,518 trips, by some luck."""
_POPULARITY_SEED = 2013
_BALANCING_ROUNDS = 12
_SLOTS = 1 << 21
"""Of the table: each stands for 1/2^21 of all trips, the rarest routes have one or none."""
_WITHIN_CELL = 0.45
"""Length of a trip within its cell, in cells, to order it among the others."""


@dataclass(frozen=True)
class City:
    """Routes to draw from.

    Attributes:
        slots: Shape (2^21,): a route per slot; a slot drawn evenly gives a route with its probability.
        cells: Shape (routes, 4): east, south of the start, then of the end.
        length_score: Shape (routes,): where the route's length lies among all trips', as a standard normal
            number.
        duration_score: Ascending standard normal numbers, and
        log_duration: the logarithms of the durations (s) of trips that lie there among all trips.
    """

    slots: IntArray
    cells: IntArray
    length_score: FloatArray
    duration_score: FloatArray
    log_duration: FloatArray

    def durations(self, score: FloatArray) -> FloatArray:
        """Return durations in seconds of trips by their place among all, as standard normal numbers."""
        return np.exp(np.interp(score, self.duration_score, self.log_duration))

    @property
    def longest_s(self) -> int:
        """No trip takes longer."""
        return int(np.ceil(np.exp(self.log_duration[-1])))


@cache
def load_city() -> City:
    """Return the city of `city.toml`; the same for all seeds."""
    with CITY_FILE.open("rb") as stream:
        measured = {
            name: np.asarray(values, dtype=np.float64) for name, values in tomllib.load(stream).items()
        }
    cells = np.stack([measured["east"], measured["south"]], axis=1)
    starts, ends = np.flatnonzero(measured["pickups"]), np.flatnonzero(measured["dropoffs"])
    length = np.hypot(*(cells[ends][None, :, :] - cells[starts][:, None, :]).transpose(2, 0, 1))
    probability = _balance(
        measured["pickups"][starts],
        measured["dropoffs"][ends],
        np.digitize(length, measured["length_borders"]) - 1,
        measured["length_trips"],
    ).ravel()
    cumulative = np.cumsum(probability)
    slots = np.searchsorted(cumulative, (np.arange(_SLOTS) + 0.5) / _SLOTS * cumulative[-1])
    drawn, renumbered = np.unique(slots, return_inverse=True)
    start, end = np.divmod(drawn, len(ends))
    percents = measured["duration_percents"] / 100.0
    return City(
        slots=renumbered.astype(np.int32),
        cells=np.concatenate([cells[starts][start], cells[ends][end]], axis=1).astype(np.int32),
        length_score=_scores(np.maximum(length.ravel()[drawn], _WITHIN_CELL), probability[drawn]),
        duration_score=_normal(np.clip(percents, 2e-5, 1 - 2e-5)),
        log_duration=np.log(np.maximum(measured["duration_s"], 1.0)),
    )


def _balance(pickups: FloatArray, dropoffs: FloatArray, kind: IntArray, trips: FloatArray) -> FloatArray:
    """Return the probability of each route, shape (starts, ends).

    Args:
        pickups: Trips per start.
        dropoffs: Trips per end.
        kind: Class of length of each route, shape (starts, ends).
        trips: Trips per class.
    """
    stream = np.random.default_rng(_POPULARITY_SEED)
    table = stream.uniform(_LEAST_POPULAR, 1.0, kind.shape) * np.outer(pickups, dropoffs)
    flat = kind.ravel()
    for _ in range(_BALANCING_ROUNDS):
        present = np.bincount(flat, table.ravel(), len(trips))
        table *= np.divide(trips, present, out=np.zeros_like(trips), where=present > 0)[kind]
        table *= dropoffs / table.sum(axis=0)
        table *= (pickups / table.sum(axis=1))[:, None]
        table = np.minimum(table, _MOST_FREQUENT * table.sum())
    return np.asarray(table / table.sum())


def _scores(length: FloatArray, probability: FloatArray) -> FloatArray:
    """Return the place of each length among all trips as a standard normal number; equal ones share it."""
    _, place = np.unique(length, return_inverse=True)
    share = np.bincount(place, probability) / probability.sum()
    return _normal(np.cumsum(share) - share / 2)[place]


def _normal(probability: FloatArray) -> FloatArray:
    """Return the standard normal quantiles of probabilities inside (0, 1)."""
    inverse = NormalDist().inv_cdf
    values, place = np.unique(probability, return_inverse=True)
    return np.array([inverse(float(value)) for value in values])[place]
