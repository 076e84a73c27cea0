"""Times and taxis of made-up trips."""

from __future__ import annotations

import numpy as np
import pytest

from replay.trips.city import load_city
from replay.trips.plan import BOUNDARY_HOUR, HOUR_S, Trips, day_plan
from replay.trips.rates import HOURS, minute_rates, trips_per_minute
from replay.trips.settings import Settings

DAY = 15_719
"""Monday, 14 January 2013."""


@pytest.fixture(scope="module")
def plans() -> list[Trips]:
    settings = Settings(seed=5, rows_per_day=60_000)
    return [day_plan(settings, load_city(), DAY + step) for step in range(3)]


def test_a_taxis_trips_follow_one_another(plans: list[Trips]) -> None:
    """Each begins after the one before has ended, from one taxi day to the next too."""
    pickup, dropoff, taxi = (
        np.concatenate([getattr(plan, name) for plan in plans]) for name in ("pickup_s", "dropoff_s", "taxi")
    )
    order = np.lexsort((dropoff, pickup, taxi))
    same = taxi[order][1:] == taxi[order][:-1]

    assert same.sum() > 0.8 * len(taxi)
    assert ((pickup[order][1:] - dropoff[order][:-1])[same] > 0).all()
    assert (pickup <= dropoff).all()


def test_a_taxi_day_ends_trips_between_its_borders_in_order(plans: list[Trips]) -> None:
    for step, plan in enumerate(plans):
        begin = (DAY + step) * HOURS + BOUNDARY_HOUR
        assert plan.dropoff_s[0] >= begin * HOUR_S
        assert plan.dropoff_s[-1] < (begin + HOURS) * HOUR_S
        assert (np.diff(plan.dropoff_s) >= 0).all()
        assert (plan.pickup_s < begin * HOUR_S).any(), "no taxi is under way at the border"


def test_a_clock_tells_seconds_for_all_trips_of_a_taxi_or_for_none(plans: list[Trips]) -> None:
    plan = plans[0]
    seconds = (plan.dropoff_s % 60 != 0) | (plan.pickup_s % 60 != 0)
    taxis, trips = np.unique(plan.taxi, return_counts=True)
    with_seconds = np.bincount(plan.taxi, seconds)[taxis]

    assert ((with_seconds == 0) | (with_seconds >= trips - 2)).all()
    assert 0.4 < (with_seconds > 0).mean() < 0.6


def test_another_seed_makes_other_trips() -> None:
    hour = DAY * HOURS
    counts = [trips_per_minute(Settings(seed), hour).tolist() for seed in (1, 1, 2)]

    assert counts[0] == counts[1] != counts[2]


def test_the_rate_follows_the_hours_of_the_week() -> None:
    """Trough and peak of a Monday, a busier Friday night, and the year's mean over a week."""
    monday = [minute_rates(DAY * HOURS + hour).mean() for hour in range(HOURS)]
    friday_night = minute_rates((DAY + 4) * HOURS + 23).mean()
    week = np.mean([minute_rates(DAY * HOURS + hour) for hour in range(7 * HOURS)])

    assert int(np.argmin(monday)) == 3
    assert int(np.argmax(monday)) == 18
    assert friday_night > 1.4
    assert monday[23] < 1.0
    assert week == pytest.approx(1.0, abs=0.03)
