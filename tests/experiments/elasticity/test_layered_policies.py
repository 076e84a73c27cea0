"""Policies in two layers: what they begin with, how they follow the load, and what is refused."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.period_cost import period_cost
from experiments.elasticity.scenario_file import ScenarioError, read_scenario
from experiments.elasticity.simulation import simulate
from tests.experiments.elasticity.scenarios import SHIPPED, scenario

if TYPE_CHECKING:
    from experiments.elasticity.outcome import Outcome

PAPER = read_scenario(SHIPPED / "paper-004.toml")
LAYERS = {"kind": "layers", "operators": "threshold", "hosts": "idle-pool", "hosts_max": 4}


@cache
def run(policy: str) -> Outcome:
    given = PAPER.model_copy(update={"duration_min": 2880.0, "counted_from_min": 1440.0})
    return simulate(given, Asked(policy, "sinus", "small", 1))


def test_static_executors_are_enough_for_the_peak() -> None:
    """Least numbers at 1,100 items per second, as worked out for this chain: 6, 4, 10, 4."""
    outcome = run("static-peak")
    assert outcome.periods[0].executors == (6, 4, 10, 4)
    assert outcome.violations == 0.0
    assert (outcome.reconfigurations, outcome.leases, outcome.releases) == (0, 0, 0)
    assert outcome.executor_hours == pytest.approx(24 * 24)


def test_managers_follow_the_load() -> None:
    """With fewer executors than for the peak, and few violations; hosts come and go with a pool."""
    threshold, pool = run("threshold-layers"), run("threshold-idle-pool")
    assert threshold.executor_hours < 0.85 * 24 * 24
    assert 0.0 < threshold.violations < 0.06
    assert pool.executor_hours == pytest.approx(threshold.executor_hours, rel=0.05)
    assert pool.host_hours < 0.7 * threshold.host_hours
    assert pool.leases > 0
    assert pool.releases > 0


def test_violations_per_minute_make_those_of_the_run() -> None:
    outcome = run("threshold-layers")
    counted = outcome.periods[1440:]
    assert math.fsum(each.violations for each in counted) / len(counted) == pytest.approx(outcome.violations)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"operators": "best"},
            'policy.x.operators: expected "threshold" or "model-based" or "rolling" or "static", got "best"',
        ),
        ({"hosts": 3}, 'policy.x.hosts: expected "idle-pool" or "model-based" or "static", got 3'),
        ({"hosts_max": "x"}, "policy.x.hosts_max: expected a whole number >= 1, got 'x'"),
        ({"executors_max": 0}, "policy.x.executors_max: expected a whole number >= 1, got 0"),
        ({"period_s": 0}, "policy.x.period_s: expected a number > 0, got 0"),
        ({"size": 1}, "policy.x.size: unknown key"),
        ({"operator": 1}, "policy.x.operator: expected a table, got 1"),
        ({"operator": {"size": 1}}, "policy.x.operator.size: unknown key"),
        (
            {"operator": {"scale_out": 2}},
            "policy.x.operator.scale_out: expected a number > 0 and <= 1, got 2",
        ),
        ({"region": {"idle_hosts": -1}}, "policy.x.region.idle_hosts: expected a whole number >= 0, got -1"),
        (
            {"application": {"reconfigurations": {"per_hour": 0, "most": 1}}},
            "policy.x.application.reconfigurations.per_hour: expected a number > 0, got 0",
        ),
        ({"application": {"pauses": 3}}, "policy.x.application.pauses: expected a table, got 3"),
        (
            {"application": {"pauses": {"per_hour": 60}}},
            "policy.x.application.pauses.most: missing",
        ),
        (
            {"operators": "rolling", "operator": {"season": {"slot_s": 7000}}},
            "policy.x.operator.season.slot_s: expected a whole number of them in a day, got 7000",
        ),
        (
            {"operators": "rolling", "operator": {"season": {"size": 1}}},
            "policy.x.operator.season.size: unknown key",
        ),
        (
            {"operators": "rolling", "operator": {"path": []}},
            "policy.x.operator.path: unknown key",
        ),
        (
            {"operators": "model-based", "operator": {"weights": {"best": 1}}},
            "policy.x.operator.weights.best: unknown key",
        ),
    ],
)
def test_refused(changed: dict[str, Any], message: str) -> None:
    given = scenario(response_max_ms=5000, policy={"x": {**LAYERS, **changed}})
    with pytest.raises(ScenarioError, match=f"^{re.escape(message)}$"):
        simulate(given, Asked("x", "even", "small"))


def test_what_is_missing_is_named() -> None:
    given = scenario(policy={"x": {"kind": "layers", "hosts": "static"}})
    missing = ["policy.x.operators: missing", "policy.x.hosts_max: missing"]
    expected = "; ".join([*missing, "response_max_ms: missing, which policy.x needs"])
    with pytest.raises(ScenarioError, match=f"^{re.escape(expected)}$"):
        simulate(given, Asked("x", "even", "small"))


@pytest.mark.parametrize("load", ["flash", "two-level"])
@pytest.mark.parametrize(
    "policy",
    ["threshold-layers", "threshold-tuned", "model-based", "model-based-joint", "rolling", "sized"],
)
def test_no_load_ends_in_a_collapse(policy: str, load: str) -> None:
    """What waits is worked off, although three times the load comes at half past twelve; two hours later."""
    given = PAPER.model_copy(update={"duration_min": 870.0, "counted_from_min": 600.0})
    outcome = simulate(given, Asked(policy, load, "small", 1))
    assert outcome.violations < 0.5
    assert max(each.waiting for each in outcome.periods) > 3_000
    assert min(each.waiting for each in outcome.periods[-30:]) == 0.0
    assert sum(outcome.periods[-1].executors) < 12 * len(outcome.components), "nor does each have all it may"


def test_looking_ahead_is_cheaper_than_thresholds_from_the_first_day_on() -> None:
    """By executors; what is usual at which time it does not know yet."""
    given = PAPER.model_copy(update={"duration_min": 1080.0, "counted_from_min": 360.0})
    ours, thresholds = (
        simulate(given, Asked(each, "sinus", "small", 1)) for each in ("rolling", "threshold-tuned")
    )
    assert ours.executor_hours < thresholds.executor_hours
    assert period_cost(given, ours) < period_cost(given, thresholds)
