"""Runs: repeatable, accounted for, and with the order of policies that paper 003 reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.leasing_policies import leasing_policy
from experiments.elasticity.scenario_file import ScenarioError, read_scenario
from experiments.elasticity.simulation import simulate
from scheduler.elasticity.leasing.paid_time import PaidTimeParameters
from tests.experiments.elasticity.scenarios import SHIPPED, scenario

PAPER = read_scenario(SHIPPED / "paper-003.toml")


@pytest.mark.parametrize("policy", ["btu", "threshold", "sized"])
def test_a_run_is_repeated_to_the_same(policy: str) -> None:
    asked = Asked(policy, "even", "small", seed=3)
    given = scenario(load={"even": {"kind": "walk", "start": 4, "least": 1, "most": 8, "every_s": 60}})
    assert simulate(given, asked) == simulate(given, asked)


def test_an_easy_run_in_figures() -> None:
    """One item per second at the first component, half as many at the second; nothing waits."""
    outcome = simulate(scenario(), Asked("sized", "even", "small"))
    assert outcome.items == pytest.approx(900.0)
    assert outcome.late == (0.0, 0.0, 0.0)
    assert outcome.shares == (1.0, 1.0, 1.0)
    assert (outcome.units, outcome.leases, outcome.reconfigurations) == (1, 0, 0)
    assert outcome.total_costs == (1.0, 1.0, 1.0)
    assert outcome.host_hours == pytest.approx(1 / 6)
    assert outcome.executor_hours == pytest.approx(2 / 6)
    assert [(each.until_s, each.load, each.executors, each.hosts) for each in outcome.periods] == [
        (60.0 * (k + 1), 1.0, (1, 1), 1) for k in range(10)
    ]


def test_periods_add_up_to_the_whole() -> None:
    outcome = simulate(PAPER, Asked("btu", "walk-1", "10-minutes"))
    periods = outcome.periods
    assert len(periods) == 120
    left = periods[-1].waiting
    assert sum(each.items for each in periods) + left == pytest.approx(outcome.items)
    for k, late in enumerate(outcome.late):
        assert sum(each.late[k] for each in periods) + left == pytest.approx(late)
    assert sum(each.leases for each in periods) == outcome.leases
    assert sum(each.units for each in periods) == outcome.units
    assert sum(each.reconfigurations for each in periods) == outcome.reconfigurations


def test_heeding_pauses_saves_changes_lateness_and_hosts() -> None:
    """On a day within an hour, where each change is a pause of eight seconds."""
    day = read_scenario(SHIPPED / "pauses.toml")
    heeding, heedless = (simulate(day, Asked(each, "day", "small", 1)) for each in ("sized", "heedless"))
    assert heeding.reconfigurations < heedless.reconfigurations / 5
    assert 1.0 - heeding.shares[0] < (1.0 - heedless.shares[0]) / 4
    assert heeding.host_hours < heedless.host_hours


def test_where_changes_are_pauses_others_are_late_or_take_more_hosts() -> None:
    """With intervals and steps as in the lab; components without a region share one."""
    lab = read_scenario(SHIPPED / "pauses.toml")
    ours = simulate(lab, Asked("sized", "day", "small", 1))
    for policy in ("btu", "threshold", "model-based"):
        other = simulate(lab, Asked(policy, "day", "small", 1))
        assert other.shares[0] < ours.shares[0] or other.units > 1.2 * ours.units, policy
        assert other.shares[0] > 0.5, policy


@pytest.mark.parametrize("load", ["stepwise", "two-level"])
def test_the_order_of_policies(load: str) -> None:
    """Cost near real time, and share: billing units before the baseline; ours in time before both."""
    runs = {
        each: simulate(PAPER, Asked(each, load, "10-minutes", 1)) for each in ("btu", "threshold", "sized")
    }
    near = {name: each.total_costs[1] for name, each in runs.items()}
    assert max(near["btu"], near["sized"]) < near["threshold"]
    share = {name: each.shares[1] for name, each in runs.items()}
    assert share["threshold"] < share["btu"] < share["sized"]
    assert share["sized"] > 0.9


def test_a_policy_of_the_scenario() -> None:
    given = scenario(policy={"lazy": {"kind": "threshold", "queue_up": 1e6, "queue_double": 1e6}})
    heavy = scenario(load={"even": {"kind": "series", "values": [8], "every_s": 60}}, policy=given.policy)
    assert simulate(heavy, Asked("lazy", "even", "small")).leases == 0
    assert simulate(heavy, Asked("threshold", "even", "small")).leases > 0
    more = {"queue_up": 50.0, "queue_double": 250.0}
    assert simulate(heavy, Asked("lazy", "even", "small", parameters=more)).leases > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"policy": "best"}, "policy best: must be one of btu, threshold, sized, odd, wrong"),
        ({"policy": "odd"}, "policy.odd.kind: must be one of btu, threshold, sized"),
        ({"policy": "wrong"}, 'policy.wrong.queue_up: expected a number >= 0, got "x"'),
        ({"load": "none"}, "load none: must be one of even"),
        ({"offer": "none"}, "offer none: must be one of small"),
        ({"parameters": {"kind": []}}, "policy.btu.kind: must be one of btu, threshold, sized, layers"),
        ({"parameters": {"hosts_min": 0}}, "policy.btu.hosts_min: expected a whole number >= 1, got 0"),
        ({"parameters": {"queue": 1}}, "policy.btu.queue: unknown key"),
        ({"parameters": {"weights": {"queue": -1}}}, "policy.btu.queue: expected a number >= 0, got -1"),
    ],
)
def test_refused(changed: dict[str, Any], message: str) -> None:
    given = scenario(policy={"odd": {"kind": "x"}, "wrong": {"kind": "btu", "queue_up": "x"}})
    asked = Asked(**{"policy": "btu", "load": "even", "offer": "small", **changed})
    with pytest.raises(ScenarioError, match=f"^{message}"):
        simulate(given, asked)


def test_policies_go_by_the_penalty_of_the_scenario() -> None:
    """Unless they are given another one; the baseline has none."""
    given = scenario(late_penalty=0.5)
    for name in ("btu", "sized"):
        made = leasing_policy(given, name, {"kind": name}, given.offer["small"], 0)
        assert isinstance(made.parameters, PaidTimeParameters)
        assert made.parameters.penalty == 0.5
        own = leasing_policy(given, name, {"kind": name, "penalty": 0.25}, given.offer["small"], 0)
        assert isinstance(own.parameters, PaidTimeParameters)
        assert own.parameters.penalty == 0.25
    leasing_policy(given, "threshold", {"kind": "threshold"}, given.offer["small"], 0)


def test_what_is_asked_can_be_written_down() -> None:
    assert asdict(Asked("btu", "even", "small"))["parameters"] == {}
