"""A day on which what is announced and forecast decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.replacement.day import SCENARIO_DAY, day
from experiments.replacement.scenario import Scenario, read_scenario
from scheduler.base.checks import ModelError


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_scenario(SCENARIO_DAY)


@pytest.fixture(scope="module")
def evening(scenario: Scenario) -> Scenario:
    """The part of the day in which the load falls and the node leaves, so short that tests are quick."""
    load, away = [(0.0, 3.2), (7200.0, 2.0), (21600.0, 1.0)], {"cloud-1": [(9000.0, 12_600.0)]}
    return replace(scenario, duration_s=8 * 3600.0, load=load, away_s=away)


def test_looking_ahead_is_better_than_one_step(evening: Scenario) -> None:
    """The rolling horizon does what hindsight shows; a plan for each cycle alone does not."""
    assert day("rolling", scenario=evening).regret == pytest.approx(0.0, abs=1e-9)
    assert day("paper", scenario=evening).regret > 0.1


def test_a_forecast_that_is_off_still_helps(evening: Scenario) -> None:
    wrong, ours = (day(rule, 1, evening) for rule in ("rolling, forecast wrong", "ours"))
    assert wrong.regret < ours.regret


def test_the_load_is_that_of_the_time_of_day(scenario: Scenario) -> None:
    """From each time on until the next one."""
    half_hours = {0: 1.0, 12: 2.0, 15: 2.0, 16: 3.2, 24: 1.5, 25: 3.2, 47: 1.0}
    assert {cycle: scenario.load_factor(cycle) for cycle in half_hours} == half_hours
    rates = {each["rate"] for each in scenario.instance["application"]["streams"]}
    noon = scenario.changed({"application": {"streams": [{"rate": rate} for rate in rates]}}, 20)
    assert {each["rate"] for each in noon["application"]["streams"]} == {3.2 * rate for rate in rates}


def test_a_node_is_away_for_as_long_as_announced(scenario: Scenario) -> None:
    away = [cycle for cycle in range(scenario.n_cycles) if 0 not in scenario.nodes(cycle)]
    assert away == [37, 38]


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"away_s": {"fog-9": [[0.0, 1.0]]}}, "away_s.fog-9"),
        ({"away_s": {"fog-1": [[2.0, 1.0]]}}, r"away_s.fog-1\[0\]"),
        ({"load": [[10.0, 1.0], [5.0, 2.0]]}, r"load\[1\]"),
        ({"load": [[10.0, -1.0]]}, r"load\[0\]"),
    ],
)
def test_what_cannot_happen_is_refused(scenario: Scenario, changed: dict[str, object], where: str) -> None:
    with pytest.raises(ModelError, match=where):
        replace(scenario, **changed)  # type: ignore[arg-type]  # wrong on purpose
