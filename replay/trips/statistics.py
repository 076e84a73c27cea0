"""What a sample of trips looks like, in figures that made-up and real rows can be compared by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.expected.kernel.ranking import follow
from replay.expected.kernel.routes import route_changes
from replay.expected.kernel.stops import stops
from replay.expected.query1 import WINDOW_S
from replay.grid import cell_indices, on_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.trips.sample import Sample
    from scheduler.base.arrays import BoolArray, IntArray

STEADY_S = 3900
"""The end of a sample that is free of its beginning's edge: 65 minutes, all of the real rows that are."""
_CELLS = 1000
_MOST_POPULAR = 200


def places(sample: Sample) -> dict[str, float]:
    """Return figures of times, places, routes and taxis.

    Args:
        sample: Trips in order; of the real file's size if counts are to be compared.
    """
    valid = on_cells(sample.coordinates)
    indices = cell_indices(sample.coordinates[valid])
    start, end = (indices[:, 2 * k] * _CELLS + indices[:, 2 * k + 1] for k in (0, 1))
    routes = start * _CELLS**2 + end
    steady = sample.dropoff_s > sample.dropoff_s[-1] - STEADY_S
    per_taxi = np.unique(sample.taxi[steady], return_counts=True)[1]
    dropoff_s = sample.dropoff_s[valid]
    in_window = routes[dropoff_s > dropoff_s[-1] - WINDOW_S]
    ranked = np.sort(np.unique(in_window, return_counts=True)[1])[::-1]
    calm = sample.dropoff_s[0] + WINDOW_S
    instants = np.unique(sample.dropoff_s, return_counts=True)[1]
    return {
        "trips per second, last 65 min": steady.sum() / STEADY_S,
        "times with seconds, %": _percent(sample.dropoff_s % 60 != 0),
        "most trips of one instant": float(instants.max()),
        **_faults(sample, valid),
        **_quantiles("duration, s", sample.duration_s[valid], (5, 25, 50, 75, 95, 99)),
        "zero duration, %": _percent(sample.duration_s == 0),
        **_popularity("pick-up cells", start, (1, 10, 100)),
        **_popularity("drop-off cells", end, (10, 100)),
        **_popularity("routes", routes, (10, 100)),
        **_quantiles("cells to the east", indices[:, 2] - indices[:, 0], (5, 25, 75, 95)),
        **_quantiles("cells to the south", indices[:, 3] - indices[:, 1], (5, 25, 75, 95)),
        "trips within a cell, %": _percent(start == end),
        "taxis, last 65 min": float(len(per_taxi)),
        **_quantiles("trips per taxi, last 65 min", per_taxi, (25, 50, 75, 95)),
        "trips in the window at the end": float(len(in_window)),
        "routes in the window": float(len(ranked)),
        "count of rank 1": float(ranked[0]),
        "count of rank 10": float(ranked[9]),
        "output rows per 5 min": 300
        * float((_output_rows(routes, dropoff_s) >= calm).sum())
        / (sample.dropoff_s[-1] - calm),
    }


def money(sample: Sample) -> dict[str, float]:
    """Return figures of distances, speeds and amounts; of a file without amounts none."""
    if not sample.amounts:
        return {}
    valid = on_cells(sample.coordinates)
    amounts = sample.amounts
    fare, tip = amounts["fare_amount"], amounts["tip_amount"]
    cards = sample.payment == "CRD"
    moving = valid & (sample.distance > 0) & (sample.duration_s > 0)
    parts = sum((amounts[name] for name in amounts if name != "total_amount"), np.zeros(len(fare)))
    return {
        **_quantiles("distance, miles", sample.distance[valid], (25, 50, 75, 95, 99)),
        **_quantiles(
            "speed, mph", sample.distance[moving] / sample.duration_s[moving] * 3600, (5, 25, 50, 75, 95)
        ),
        "paid by card, %": _percent(cards),
        **_quantiles("fare, $", fare, (5, 25, 50, 75, 95, 99)),
        "fare in half dollars, %": _percent(np.rint(2 * fare) == 2 * fare),
        "tax of 0.50, %": _percent(amounts["mta_tax"] == 0.5),
        "with a toll, %": _percent(amounts["tolls_amount"] > 0),
        "cards with a tip, %": _percent(tip[cards] > 0),
        "tip of cards, % of the fare, median": float(np.median(100 * tip[cards] / fare[cards])),
        "tip for cash, %": _percent(tip[sample.payment == "CSH"] > 0),
        "total is the sum, %": _percent(np.abs(parts - amounts["total_amount"]) < 0.005),
        "trip time is not the difference, %": _percent(sample.reported_duration_s != sample.duration_s),
    }


def _faults(sample: Sample, valid: BoolArray) -> dict[str, float]:
    zero = sample.coordinates == 0.0
    some, every = zero.any(axis=1), zero.all(axis=1)
    ends = zero.reshape(-1, 2, 2).all(axis=2)
    only_start, only_end = (int((ends[:, k] & ~ends[:, 1 - k]).sum()) for k in (0, 1))
    return {
        "zero coordinates, %": _percent(some),
        "of these all four, %": 100.0 * every.sum() / max(1, some.sum()),
        "drop-off only / pick-up only": only_end / max(1, only_start),
        "off the grid, not zero, %": _percent(~valid & ~some),
    }


def _output_rows(routes: IntArray, dropoff_s: IntArray) -> IntArray:
    """Return the drop-off of each trip that changes the ten most frequent routes of half an hour."""
    moments = stops(dropoff_s, own=0)
    different, route = np.unique(routes, return_inverse=True)
    course = follow(moments, route_changes(moments, route, len(different)))
    return moments.clock[course.tops.stops]


def _popularity(name: str, values: IntArray, tops: Sequence[int]) -> dict[str, float]:
    counts = np.sort(np.unique(values, return_counts=True)[1])[::-1]
    ranks = np.arange(1, min(_MOST_POPULAR, len(counts)) + 1)
    slope = np.polyfit(np.log(ranks), np.log(counts[: len(ranks)]), 1)[0]
    shares = {f"{name}, top {top}, %": 100.0 * counts[:top].sum() / len(values) for top in tops}
    return {
        f"{name}, different": float(len(counts)),
        **shares,
        f"{name}, once, %": _percent(counts == 1),
        f"{name}, Zipf exponent (200 ranks)": -float(slope),
        f"{name}, most trips": float(counts[0]),
    }


def _quantiles(name: str, values: np.ndarray, percents: Sequence[int]) -> dict[str, float]:
    found = np.percentile(values, percents)
    return {f"{name}, {percent} %": float(value) for percent, value in zip(percents, found, strict=True)}


def _percent(mask: BoolArray) -> float:
    return 100.0 * float(mask.mean())
