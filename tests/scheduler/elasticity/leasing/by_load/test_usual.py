"""Demand that comes again: what was seen is carried on by what is usual at each time."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from provisioning.loop.codec import codec
from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing.by_load.seen_demand import SeenDemand
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState, need_of
from scheduler.elasticity.leasing.by_load.usual import DAY_S, SLOT_S, Usual, usual_after
from scheduler.elasticity.leasing.observation import ComponentReading
from tests.scheduler.elasticity.leasing.example import OFFER, A, F

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.elasticity.leasing.component import Component

HOUR_S, WEEK_S = 3600.0, 7 * DAY_S
BOTH = (replace(A, group="t"), replace(F, group="t"))
PARAMETERS = SizedParameters(components=(A, F), offer=OFFER)


def slope(time_s: float) -> float:
    """Return what comes: 10 items/s, from six to twelve 5 more every hour, from eighteen on less again."""
    hour = time_s % DAY_S / HOUR_S
    return 10.0 + 5.0 * (min(max(hour, 6.0), 12.0) - 6.0) - 5.0 * (max(hour, 18.0) - 18.0)


def step(time_s: float) -> float:
    """Return what comes: ten times as much from eight o'clock on."""
    return 100.0 if time_s % DAY_S >= 8 * HOUR_S else 10.0


@cache
def learned(
    shape: Callable[[float], float], days: float, off: tuple[float, float, float] = (0.0, 0.0, 1.0)
) -> Usual:
    """Return what is known after some days; between two times a factor is off."""
    known = Usual.first(WEEK_S)
    for at_s in np.arange(150.0, days * DAY_S + SLOT_S, 300.0).tolist():
        begin_s, end_s, factor = off
        known = known.seen(at_s, shape(at_s) * (factor if begin_s <= at_s < end_s else 1.0), 1)
    return known


def moments(
    shape: Callable[[float], float], until_s: float, factor: float = 1.0
) -> list[tuple[float, float]]:
    times_s = np.arange(until_s - 900.0, until_s + 1.0, 60.0).tolist()
    return [(at_s, factor * shape(at_s)) for at_s in times_s]


def seen(shape: Callable[[float], float], until_s: float, factor: float = 1.0) -> SeenDemand:
    return SeenDemand(moments(shape, until_s, factor), PARAMETERS)


def test_what_rises_every_day_is_there_before_it_has_risen() -> None:
    now_s = 2 * DAY_S + 8 * HOUR_S
    expected = seen(slope, now_s, 1.2).carried_on(HOUR_S, learned(slope, 2))
    assert expected == pytest.approx(1.2 * slope(now_s + HOUR_S), rel=0.03)


def test_a_peak_is_not_kept_where_less_is_usual_soon() -> None:
    """But for noise, which is provided for as before."""
    now_s = 2 * DAY_S + 20 * HOUR_S
    past = moments(slope, now_s)
    past[3] = (past[3][0], 1.5 * past[3][1])
    expected = SeenDemand(past, PARAMETERS).carried_on(120.0, learned(slope, 2))
    assert expected == pytest.approx(past[3][1] * slope(now_s) / slope(now_s - 900.0), rel=0.03)


def test_a_step_of_every_day_is_hardly_overshot() -> None:
    """Means of a quarter of an hour cannot tell when in it a step comes."""
    known = learned(step, 3)
    for passed_s in np.arange(0.0, 1800.0, 60.0).tolist():
        expected = seen(step, 3 * DAY_S + 8 * HOUR_S + passed_s).carried_on(120.0, known)
        assert expected is not None
        assert 100.0 <= expected <= 130.0


@pytest.mark.parametrize("factor", [0.0, 3.0])
def test_what_was_off_once_leads_astray_by_no_more_than_twice(factor: float) -> None:
    """An hour on the second Tuesday: neither a week later, nor where it is the mean of two."""
    off = (8 * DAY_S + 10 * HOUR_S, 8 * DAY_S + 11 * HOUR_S, factor)
    flat = 100.0
    known = learned(_flat, 15, off)
    for passed_s in np.arange(-1200.0, 5400.0, 300.0).tolist():
        now_s = 15 * DAY_S + 10 * HOUR_S + passed_s
        expected = seen(_flat, now_s).carried_on(120.0, known)
        assert expected is not None
        assert flat <= expected <= 2.0 * flat
    before = seen(_flat, 9 * DAY_S + 10 * HOUR_S).carried_on(120.0, learned(_flat, 9, off))
    assert before == pytest.approx(flat, rel=0.3), "nor on the next day"


def _flat(_: float) -> float:
    return 100.0


def test_habits_change_within_weeks() -> None:
    """Of a time that was usual for months, little is left after three weeks."""
    known = replace(learned(_flat, 7), times=np.full(672, 4.0))
    for week in range(1, 9):
        for at_s in np.arange(7 * week * DAY_S, 7 * week * DAY_S + 2 * SLOT_S, 300.0).tolist():
            known = known.seen(at_s, 200.0, 1)
    assert known.means[0] == pytest.approx(200.0, rel=0.06)


def test_one_day_is_not_enough() -> None:
    assert seen(slope, DAY_S + 8 * HOUR_S).carried_on(HOUR_S, learned(slope, 1)) is None


def test_where_nothing_is_usual_nothing_is_carried_on() -> None:
    assert seen(_flat, 2 * DAY_S + HOUR_S).carried_on(60.0, learned(lambda _: 0.0, 2)) is None


@pytest.mark.parametrize(
    "times_s",
    [
        (100.0, 200.0, 1000.0),  # less than a part of it
        (100.0, 800.0, 50.0, 1000.0),  # a clock that was set back begins anew
        (100.0, 800.0, -800.0, 100.0, 1000.0),
    ],
)
def test_a_slot_counts_if_it_was_seen_whole(times_s: tuple[float, ...]) -> None:
    known = Usual.first(DAY_S)
    for at_s in times_s:
        known = known.seen(at_s, 10.0, 1)
    assert not known.times.any()
    whole = Usual.first(DAY_S)
    for at_s in (100.0, 800.0, 1000.0):
        whole = whole.seen(at_s, 10.0, 1)
    assert (whole.times[0], whole.means[0]) == (1.0, 10.0)


def test_another_number_of_components_begins_a_slot_anew() -> None:
    known = Usual.first(DAY_S)
    for at_s, parts in ((100.0, 2), (400.0, 2), (800.0, 1), (1000.0, 1)):
        known = known.seen(at_s, 10.0, parts)
    assert not known.times.any()


def test_what_is_known_takes_little_room() -> None:
    """Of a noisy week, so that records of fifty topologies stay small."""
    chance = np.random.default_rng(1)
    known = learned(lambda at_s: slope(at_s) * float(chance.normal(1.0, 0.1)), 8)
    known.at(np.array([0.0]))
    content = codec(Usual).dump_json(known)
    assert len(content) < 4000
    again = codec(Usual).validate_json(content)
    assert (again.means == known.means).all()
    assert again.slot == known.slot


def test_needs_follow_the_season() -> None:
    """On the third day as many executors are there as an hour later are needed."""
    now_s = 2 * DAY_S + 8 * HOUR_S
    reading = ComponentReading("A", (), 0.0, demand_per_s=slope(now_s), service_ms=400.0)
    need = need_of(A, reading, seen(slope, now_s), HOUR_S, usual=learned(slope, 2))
    assert need is not None
    assert need.executors == 13  # 25 x 0.4 / 0.8
    assert "items/s are expected" in need.why
    without = need_of(A, reading, seen(slope, now_s), HOUR_S)
    assert without is not None
    assert without.executors == 10


def readings(**demand: float | None) -> dict[str, ComponentReading]:
    return {
        name: ComponentReading(name, (), 0.0, demand_per_s=each, service_ms=1.0)
        for name, each in demand.items()
    }


def after(
    before: dict[str, Usual], now_s: float, components: tuple[Component, ...], **demand: float | None
) -> dict[str, Usual]:
    return usual_after(before, now_s, components, readings(**demand), WEEK_S)


def test_components_of_a_topology_are_known_together() -> None:
    (one,) = after({}, 60.0, BOTH, A=4.0, F=6.0).values()
    assert (one.total, one.parts) == (10.0, 2)
    apart = after({}, 60.0, (A, replace(F, group="u")), A=4.0, F=6.0)
    assert {group: each.total for group, each in apart.items()} == {"": 4.0, "u": 6.0}


def test_a_component_without_demand_is_left_out() -> None:
    """It may never have any: what is behind a circle."""
    (one,) = after({}, 60.0, BOTH, A=4.0, F=None).values()
    assert (one.total, one.parts) == (4.0, 1)
    assert not after({}, 60.0, BOTH, A=None)


def test_what_has_gone_is_forgotten_after_some_seasons() -> None:
    """What is still there is not, however long nothing was read."""
    known = after({}, 60.0, BOTH, A=4.0, F=6.0)
    assert after(known, 60.0 + 4 * WEEK_S, ())["t"] is known["t"]
    assert not after(known, 61.0 + 4 * WEEK_S, ())
    assert after(known, 61.0 + 9 * WEEK_S, BOTH)["t"] is known["t"]


def test_another_season_is_learned_anew() -> None:
    state = SizedState(usual={"": learned(slope, 2)})
    parameters = SizedParameters(components=(A,), offer=OFFER, season_s=DAY_S)
    changed = state.with_readings(2 * DAY_S + 60.0, readings(A=1.0), parameters)
    assert changed.usual[""].means.shape == (96,)
    none = state.with_readings(60.0, readings(A=1.0), replace(parameters, season_s=0.0))
    assert not none.usual


@pytest.mark.parametrize(
    ("season_s", "message"),
    [(3600.0, "whole days"), (-1.0, "number"), ("", "number"), (29 * DAY_S, "number")],
)
def test_a_season_is_of_whole_days(season_s: Any, message: str) -> None:
    with pytest.raises(ModelError, match=f"season_s.*{message}"):
        SizedParameters(components=(A,), offer=OFFER, season_s=season_s)


def test_what_is_known_is_the_same_however_often_it_is_asked_for() -> None:
    """It is kept while a slot lasts, and worked out anew once one has ended."""
    asked, never, ten = Usual.first(DAY_S), Usual.first(DAY_S), [10 * HOUR_S]
    for at_s in np.arange(150.0, 4 * DAY_S, 300.0).tolist():
        demand = slope(at_s) * (1.0 + at_s // DAY_S)
        asked, never = asked.seen(at_s, demand, 1), never.seen(at_s, demand, 1)
        known = asked.at(ten)[0]
        assert math.isnan(known) == (at_s < DAY_S + 10 * HOUR_S + SLOT_S), "it takes two days"
    assert asked.at(ten) == never.at(ten)
