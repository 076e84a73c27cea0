"""A number of idle hosts is kept ready."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.region_manager.idle_pool import (
    IdlePoolParameters,
    IdlePoolState,
    decide,
    idle_pool_action,
)
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport


def report(ready: int, booting: int, idle: int, **more: Any) -> RegionReport:
    return RegionReport("north", 0.0, 120.0, ready, booting, idle, **{"utilisation": 0.5, "unmet": 0, **more})


@pytest.mark.parametrize(
    ("ready", "booting", "idle", "action"),
    [
        (3, 0, 0, 1),
        (3, 1, 0, 0),
        (3, 0, 1, 0),
        (3, 0, 3, -2),
        (3, 1, 1, -1),
        (3, 2, 0, 0),
        (8, 0, 0, 0),
    ],
    ids=[
        "none idle",
        "one boots",
        "as wanted",
        "whole surplus",
        "one boots besides",
        "none to give",
        "at most",
    ],
)
def test_the_pool_is_filled_and_emptied(ready: int, booting: int, idle: int, action: int) -> None:
    parameters = IdlePoolParameters(hosts_max=8)
    assert idle_pool_action(report(ready, booting, idle), parameters) == action
    request, _ = decide(
        RegionObservation(120.0, report(ready, booting, idle)), IdlePoolState(), parameters, seed=0
    )
    assert (request.region, request.action) == ("north", action)
    expected = "asked" if action else "limited" if ready == 8 else "kept"
    assert request.verdict == expected


@given(st.integers(0, 8), st.integers(0, 3), st.integers(0, 8), st.integers(0, 4), st.integers(0, 3))
def test_only_idle_hosts_go_and_bounds_are_kept(
    ready: int, booting: int, idle: int, wanted: int, least: int
) -> None:
    idle = min(idle, ready)
    there = report(ready, booting, idle)
    parameters = IdlePoolParameters(hosts_max=8, hosts_min=least, idle_hosts=wanted)
    action = idle_pool_action(there, parameters)
    assert -idle <= action <= 1
    assert there.active + action <= max(8, there.active)
    assert there.active + action >= min(least, there.active)


def test_without_a_report_nothing_is_asked_for() -> None:
    parameters = IdlePoolParameters(hosts_max=8)
    for observation in (RegionObservation(0.0, None), RegionObservation(999.0, report(1, 0, 0))):
        request, _ = decide(observation, IdlePoolState(), parameters, seed=0)
        assert (request.action, request.verdict) == (0, "held")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: report(1, 0, 2), r"idle: expected at most ready \(1\), got 2"),
        (lambda: report(1, -1, 0), "booting: expected a whole number >= 0, got -1"),
        (lambda: report(1, 0, 0, utilisation=1.5), "utilisation: expected a number >= 0 and <= 1, got 1.5"),
        (
            lambda: IdlePoolParameters(hosts_max=1, hosts_min=2),
            "hosts_max: expected a .* >= 2, got 1",
        ),
        (
            lambda: IdlePoolParameters(hosts_max=1, idle_hosts=-1),
            "idle_hosts: expected a .* >= 0, got -1",
        ),
    ],
)
def test_bad_values(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
