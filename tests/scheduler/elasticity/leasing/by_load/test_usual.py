"""Demand that comes again: what was seen is carried on by what is usual at each time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.elasticity.learning.season import Season, SeasonParameters
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState, need_of
from scheduler.elasticity.leasing.by_load.usual import carried_on, seasons_after
from scheduler.elasticity.leasing.observation import ComponentReading
from tests.scheduler.elasticity.leasing.example import OFFER, A, F

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.component import Component

DAY_S, HOUR_S = 86_400.0, 3600.0
WEEK = SeasonParameters()
BOTH = (replace(A, group="t"), replace(F, group="t"))


def usual_at(time_s: float) -> float:
    """Return what comes: 10 items/s, from six to twelve 5 more every hour, from eighteen on less again."""
    hour = time_s % DAY_S / HOUR_S
    return 10.0 + 5.0 * (min(max(hour, 6.0), 12.0) - 6.0) - 5.0 * (max(hour, 18.0) - 18.0)


def days(count: int, every_s: float = 300.0, parameters: SeasonParameters = WEEK) -> Season:
    season = Season.first(parameters)
    for at_s in np.arange(every_s, count * DAY_S + 1.0, every_s).tolist():
        season = season.seen(at_s, usual_at(at_s - every_s / 2.0), parameters)
    return season


TWO_DAYS = days(2)


def seen(until_s: float, factor: float = 1.0, passed_s: float = 900.0) -> list[tuple[float, float]]:
    return [
        (at_s, factor * usual_at(at_s))
        for at_s in np.arange(until_s - passed_s, until_s + 1.0, 60.0).tolist()
    ]


def test_what_rises_every_day_is_there_before_it_has_risen() -> None:
    now_s = 2 * DAY_S + 8 * HOUR_S
    expected = carried_on(seen(now_s, 1.2), HOUR_S, TWO_DAYS, WEEK)
    assert expected == pytest.approx(1.2 * usual_at(now_s + HOUR_S), rel=0.02)


def test_a_peak_is_not_kept_where_less_is_usual_soon() -> None:
    now_s = 2 * DAY_S + 20 * HOUR_S
    past = seen(now_s)
    past[3] = (past[3][0], 1.5 * past[3][1])
    expected = carried_on(past, 120.0, TWO_DAYS, WEEK)
    assert expected == pytest.approx(1.5 * usual_at(now_s), rel=0.03), "noise is kept, what is past is not"
    assert expected < past[3][1]


def test_never_less_than_what_comes_now_nor_more_than_twice_what_was_seen() -> None:
    fault = replace(TWO_DAYS, usual=np.where(np.arange(672) % 96 == 40, 0.1, TWO_DAYS.usual))
    before = 2 * DAY_S + 10 * HOUR_S - 60.0
    assert carried_on(seen(before), 400.0, fault, WEEK) >= usual_at(before)  # type: ignore[operator]
    past = seen(before)
    jump = replace(TWO_DAYS, usual=np.where(np.arange(672) % 96 == 40, 900.0, TWO_DAYS.usual))
    assert carried_on(past, 900.0, jump, WEEK) == 2.0 * max(demand for _, demand in past)


def test_one_day_is_not_enough() -> None:
    assert carried_on(seen(DAY_S + 8 * HOUR_S), HOUR_S, days(1), WEEK) is None


def test_where_nothing_is_usual_there_is_no_season() -> None:
    nothing = replace(TWO_DAYS, usual=np.zeros(672))
    assert carried_on(seen(2 * DAY_S + HOUR_S), HOUR_S, nothing, WEEK) is None


def test_needs_follow_the_season() -> None:
    """On the third day as many executors are there as an hour later are needed."""
    now_s = 2 * DAY_S + 8 * HOUR_S
    reading = ComponentReading("A", (), 0.0, demand_per_s=usual_at(now_s), service_ms=400.0)
    parameters = SizedParameters(components=(A, F), offer=OFFER)
    need = need_of(A, reading, seen(now_s), parameters, HOUR_S, season=TWO_DAYS)
    assert need is not None
    assert need.executors == 13  # 25 x 0.4 / 0.8
    assert need.why.startswith("25 items/s are expected")
    without = need_of(A, reading, seen(now_s), replace(parameters, season_s=0.0), HOUR_S, season=TWO_DAYS)
    assert without is not None
    assert without.executors == 10


def readings(**demand: float | None) -> dict[str, ComponentReading]:
    return {
        name: ComponentReading(name, (), 0.0, demand_per_s=each, service_ms=1.0)
        for name, each in demand.items()
    }


def learned(
    before: dict[str, Season], now_s: float, components: tuple[Component, ...], **demand: float | None
) -> dict[str, Season]:
    return seasons_after(before, now_s, components, readings(**demand), WEEK)


def test_a_topology_has_one_season() -> None:
    after = learned({}, 60.0, BOTH, A=4.0, F=6.0)
    assert after["t"].recent == ((60.0, 10.0),)
    apart = learned({}, 60.0, (A, replace(F, group="u")), A=4.0, F=6.0)
    assert {group: each.recent[0][1] for group, each in apart.items()} == {"": 4.0, "u": 6.0}


@pytest.mark.parametrize("missing", [{"A": 4.0}, {"A": 4.0, "F": None}])
def test_nothing_is_learned_of_a_part(missing: dict[str, float | None]) -> None:
    after = learned({}, 60.0, BOTH, A=4.0, F=6.0)
    assert learned(after, 120.0, BOTH, **missing)["t"] is after["t"]
    assert not learned({}, 120.0, BOTH, **missing)


def test_what_has_gone_is_forgotten_after_a_season() -> None:
    after = learned({}, 60.0, BOTH, A=4.0, F=6.0)
    assert learned(after, 60.0 + WEEK.season_s, ())["t"] is after["t"]
    assert not learned(after, 61.0 + WEEK.season_s, ())


def test_another_season_is_learned_anew() -> None:
    state = SizedState(seasons={"": TWO_DAYS})
    parameters = SizedParameters(components=(A,), offer=OFFER, season_s=DAY_S)
    after = state.with_readings(2 * DAY_S + 60.0, readings(A=1.0), parameters)
    assert after.seasons[""].means.shape == (96,)
    none = state.with_readings(60.0, readings(A=1.0), replace(parameters, season_s=0.0))
    assert not none.seasons


@pytest.mark.parametrize(
    ("season_s", "message"), [(3600.0, "whole days"), (-1.0, "expected"), ("", "expected")]
)
def test_a_season_is_of_whole_days(season_s: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"season_s.*{message}"):
        SizedParameters(components=(A,), offer=OFFER, season_s=season_s)
