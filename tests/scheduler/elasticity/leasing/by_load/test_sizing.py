"""How many executors a component needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler.elasticity.leasing.by_load.seen_demand import SeenDemand
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState, need_of
from scheduler.elasticity.leasing.observation import ComponentReading
from tests.scheduler.elasticity.leasing.example import OFFER, A, F


def parameters(**changed: Any) -> SizedParameters:
    return SizedParameters(**{"components": (A, F), "offer": OFFER, **changed})


def reading(
    demand: float | None = 10.0, waiting: float = 0.0, service_ms: float | None = 400.0
) -> ComponentReading:
    return ComponentReading("A", (), waiting, demand_per_s=demand, service_ms=service_ms)


@pytest.mark.parametrize(
    ("read", "seen", "executors"),
    [
        (reading(), [(0.0, 10.0)], 5),  # 10 x 0.4 / 0.8
        (reading(10.1), [(0.0, 10.1)], 6),
        (reading(waiting=150.0), [(0.0, 10.0)], 6),  # and 150 x 0.4 / 60
        (reading(), [(0.0, 20.0), (900.0, 10.0)], 10),  # the peak of 15 minutes ago is kept
        (reading(), [(0.0, 20.0), (901.0, 10.0)], 5),
        (reading(0.0), [(0.0, 0.0)], 1),
    ],
)
def test_need(read: ComponentReading, seen: list[tuple[float, float]], executors: int) -> None:
    need = need_of(A, read, SeenDemand(seen, parameters()))
    assert need is not None
    assert need.executors == executors


def test_need_within_bounds() -> None:
    few = need_of(replace(A, most=3), reading(), SeenDemand([(0.0, 10.0)], parameters()))
    many = need_of(replace(A, least=7), reading(), SeenDemand([(0.0, 10.0)], parameters()))
    assert few is not None
    assert many is not None
    assert (few.executors, many.executors) == (3, 7)
    assert few.busy == pytest.approx(4.0)
    assert few.why == "10 items/s come, 0 wait, each takes 400 ms"
    assert (few.beyond, many.beyond) == (5, None)
    dealt = need_of(replace(A, tasks=4, most=4), reading(), SeenDemand([(0.0, 10.0)], parameters()))
    assert dealt is not None
    assert (dealt.executors, dealt.beyond) == (4, 5), "there are no more than tasks"
    uneven = need_of(replace(A, tasks=12, most=10), reading(16.0), SeenDemand([(0.0, 16.0)], parameters()))
    assert uneven is not None
    assert (uneven.executors, uneven.beyond) == (10, 12), "ten do no more than six, and eight are needed"


@pytest.mark.parametrize("unknown", [reading(None), reading(service_ms=None)])
def test_nothing_is_needed_by_guess(unknown: ComponentReading) -> None:
    assert need_of(A, unknown, SeenDemand([(0.0, 10.0)], parameters())) is None


def test_trend() -> None:
    known = parameters(trend_s=180.0)
    rising = [(24.0 * k, 10.0 + 0.8 * k) for k in range(6)]
    seen = SeenDemand(rising, known)
    assert seen.slope == pytest.approx(0.8 / 24.0)
    assert seen.coming(120.0) == pytest.approx(18.0)
    assert seen.coming(3600.0) == 28.0, "twice the highest at most"
    assert SeenDemand(rising[:5], known).coming(120.0) == 0.0, "five values are no trend"
    assert SeenDemand(rising, parameters(trend_s=60.0)).coming(120.0) == 0.0, "nor are three"
    jump = [(24.0 * k, 10.0 if k < 3 else 14.0) for k in range(6)]
    assert SeenDemand(jump, known).coming(120.0) == 0.0, "nor is a jump"
    need = need_of(A, reading(14.0), seen)
    assert need is not None
    assert (need.executors, need.demand_per_s) == (9, pytest.approx(18.0))
    assert need.why.startswith("18 items/s are coming")


def test_demand_is_remembered_as_long_as_it_counts() -> None:
    state = SizedState()
    for at_s in (0.0, 600.0, 1200.0):
        state = state.with_readings(at_s, {"A": reading(at_s)}, parameters())
    assert state.demand == {"A": ((600.0, 600.0), (1200.0, 1200.0)), "F": ()}
    back = state.with_readings(900.0, {}, parameters())
    assert back.demand["A"] == ((600.0, 600.0),), "also after the clock was set back"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target_load": 1}, "target_load: expected a number < 1, at which no backlog ever shrinks, got 1"),
        ({"target_load": 0}, "target_load: expected a number > 0 and <= 1, got 0"),
        ({"drain_s": 0}, "drain_s: expected a number > 0, got 0"),
        ({"keep_peak_s": -1}, "keep_peak_s: expected a number >= 0, got -1"),
        ({"move_cost": "x"}, 'move_cost: expected a number >= 0, got "x"'),
        ({"release_lead_s": 601}, r"release_lead_s: expected at most the billing unit \(600 s\), got 601"),
    ],
)
def test_parameters_out_of_their_bounds(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parameters(**changed)
