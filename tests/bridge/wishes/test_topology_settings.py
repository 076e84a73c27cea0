"""A topology's settings are taken where they are good; every bad one is named and keeps its default."""

from __future__ import annotations

import json

import pytest

from bridge.wishes.place import PLACE_FORMS, Place
from bridge.wishes.topology_settings import parse_topology_settings
from scheduler.model.metrics.catalogue import RANGED
from scheduler.model.objective import Objective

COMPONENTS = ("spout", "bolt")


def parse(settings):
    text = settings if isinstance(settings, str) else json.dumps(settings)
    return parse_topology_settings(text, COMPONENTS, ("greedy", "local-search"), "local-search", 7)


def key(name):
    return f"topology.stormplace.{name}"


def test_good_settings_are_taken():
    """All keys at once, numbers as Storm's JSON may write them."""
    settings = parse(
        {
            key("strategy"): "greedy",
            key("weights"): {"response_time": 0.5, "network_usage": 0.5, "cost": 0},
            key("pin"): {"spout": "site:rome"},
            key("avoid"): {"bolt": ["host:a-1", "site:b", "tier:cloud"]},
            key("allow"): {"*": ["tier:edge", "site:rome"], "bolt": "tier:edge"},
            key("time.limit.ms"): 50.0,
            key("seed"): 3,
            key("frozen"): True,
            key("rates"): {"spout": 10, "bolt": 0.5},
            key("tuple.bytes"): {"spout": 4000},
            key("execution.ms"): {"spout": 0, "bolt": 250},
        }
    )
    assert (settings.faults, settings.unclear) == ((), ())
    assert settings.rates == {"spout": 10.0, "bolt": 0.5}
    assert settings.tuple_bytes == {"spout": 4000.0}
    assert settings.execution_ms == {"spout": 0.0, "bolt": 250.0}
    assert (settings.strategy, settings.time_limit_ms, settings.seed, settings.frozen) == (
        "greedy",
        50,
        3,
        True,
    )
    assert settings.weights == {"response_time": 0.5, "network_usage": 0.5}
    assert settings.pin == {"spout": Place("site", "rome")}
    assert settings.avoid == {"bolt": (Place("host", "a-1"), Place("site", "b"), Place("tier", "cloud"))}
    edge = Place("tier", "edge")
    assert settings.allow == {"*": (edge, Place("site", "rome")), "bolt": (edge,)}


def test_what_moves_and_hosts_may_cost_is_taken():
    """All keys of prices, budgets, limits and re-planning at once."""
    given = {
        "image.mb": 120,
        "state.mb": {"bolt": 5},
        "cost.model": "per-host",
        "migration.scale": 50,
        "budget.cost.per.sec": 0,
        "budget.migration": 20.5,
        "duration.max.ms": {"bolt": 30},
        "replan.gain.min": 0.02,
        "replan.horizon.secs": 240,
        "replan.interval.secs": 60,
        "replan.moves.max": 4.0,
        "replan.workers.max": 0,
        "replan.cooldown.secs": 0,
        "replan.persistence": "pin",
    }
    settings = parse({key(name): value for name, value in given.items()})
    assert (settings.faults, settings.unclear) == ((), ())
    assert {name: getattr(settings, name.replace(".", "_")) for name in given} == given


@pytest.mark.parametrize("limit", ["budget.migration", "replan.horizon.secs"])
def test_prices_that_are_limited_cannot_be_left_out(limit):
    """The contradiction is named, and moves have their price."""
    settings = parse({key("replan.persistence"): "none", key(limit): 5})
    contradiction = f"none contradicts {limit}: what has no price has no limit"
    assert settings.faults == (f"{key('replan.persistence')}: {contradiction}",)
    assert (settings.replan_persistence, settings.unclear) == ("weight", (key("replan.persistence"),))


@pytest.mark.parametrize(
    "weights",
    [
        dict.fromkeys(("response_time", "availability", "network_usage"), 0.3333333),
        {"response_time": 1.0000001},
    ],
)
def test_weights_that_nearly_sum_to_1_are_made_to(weights):
    """The objective takes what comes of them, and their proportions stay."""
    settings = parse({key("weights"): weights})
    assert settings.faults == ()
    assert Objective(weights=dict(settings.weights)).weights["response_time"] == pytest.approx(
        1 / len(weights), abs=1e-12
    )


@pytest.mark.parametrize("metric", RANGED)
def test_every_metric_of_the_objective_can_be_weighed(metric):
    """By the name that instance files use."""
    settings = parse({key("weights"): {metric: 1}})
    assert (settings.faults, settings.weights) == ((), {metric: 1.0})


@pytest.mark.parametrize("value", ["site:b", ["site:b"]])
@pytest.mark.parametrize("name", ["avoid", "allow"])
def test_places_to_use_or_to_avoid_may_hold_for_all_components(name, value):
    """A place or a list of places instead of an object means every component."""
    assert getattr(parse({key(name): value}), name) == {"*": (Place("site", "b"),)}


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("stratgy", "greedy", "unknown key"),
        ("strategy", "magic", "must be one of greedy, local-search, got 'magic'"),
        ("strategy", ["greedy"], "must be one of greedy, local-search, got ['greedy']"),
        ("weights", {"response_time": 0.5}, "weights must sum to 1, got 0.5"),
        ("weights", {"speed": 1}, "unknown weight 'speed'"),
        ("weights", {"cost": 2}, "weights must sum to 1, got 2"),
        ("weights", {"response_time": 2, "availability": -1}, "weight availability must be >= 0, got -1"),
        ("weights", {"response_time": True}, "weight response_time must be a number, got True"),
        ("weights", {}, "must be an object of weights"),
        ("pin", {"sput": "site:a"}, "the topology has no component 'sput'"),
        ("pin", {"spout": "rome"}, f"a place is {PLACE_FORMS}, got 'rome'"),
        ("pin", {"spout": "site:"}, f"a place is {PLACE_FORMS}"),
        ("pin", "site:rome", "must be an object"),
        ("avoid", {"sput": "site:a"}, "the topology has no component 'sput'"),
        ("avoid", [1], f"a place is {PLACE_FORMS}, got 1"),
        ("pin", {"spout": "tier:mist"}, f"a place is {PLACE_FORMS}, got 'tier:mist'"),
        ("pin", {"*": "tier:edge"}, "the topology has no component '*'"),
        ("allow", {"sput": "site:a"}, "the topology has no component 'sput'"),
        ("allow", {"spout": ["tier:"]}, f"a place is {PLACE_FORMS}, got 'tier:'"),
        ("allow", {"spout": ["site:a"], "bolt": []}, "names no place for bolt"),
        ("allow", 5, f"a place is {PLACE_FORMS}, got 5"),
        ("rates", 5, "must be an object {component: tuples per second}, got 5"),
        ("rates", {"sput": 5}, "the topology has no component 'sput'"),
        ("rates", {"spout": 0}, "rate of spout must be > 0 and <= 1e+09, got 0"),
        ("tuple.bytes", {"spout": 0}, "size of spout must be > 0 and <= 1e+09, got 0"),
        ("rates", {"spout": "5"}, "rate of spout must be a number, got '5'"),
        ("execution.ms", 5, "must be an object {component: ms per tuple}, got 5"),
        ("execution.ms", {"spout": -1}, "time of spout must be >= 0 and <= 1e+09, got -1"),
        ("time.limit.ms", 0, "must be a whole number from 1 to 2147483647, got 0"),
        ("seed", 1.5, "must be a whole number from 0 to 2147483647, got 1.5"),
        ("seed", 10**400, "the value must be a number"),
        ("seed", "1", "the value must be a number, got '1'"),
        ("frozen", "yes", "must be true or false, got 'yes'"),
        ("image.mb", -1, "must be >= 0 and <= 1e+09, got -1"),
        ("state.mb", 5, "must be an object {component: MB}, got 5"),
        ("state.mb", {"bolt": -1}, "state of bolt must be >= 0 and <= 1e+09, got -1"),
        ("state.mb", {"sput": 1}, "the topology has no component 'sput'"),
        ("cost.model", "per-node", "must be per-executor or per-host, got 'per-node'"),
        ("migration.scale", 0, "must be > 0 and <= 1e+09, got 0"),
        ("budget.cost.per.sec", -1, "must be >= 0 and <= 1e+09, got -1"),
        ("budget.migration", "much", "the value must be a number, got 'much'"),
        ("duration.max.ms", {"bolt": 0}, "limit of bolt must be > 0 and <= 1e+09, got 0"),
        ("replan.gain.min", 1.5, "must be from 0 to 1, got 1.5"),
        ("replan.horizon.secs", 0, "must be > 0 and <= 1e+09, got 0"),
        ("replan.interval.secs", 0, "must be > 0 and <= 1e+09, got 0"),
        ("replan.moves.max", 1.5, "must be a whole number from 0 to 2147483647, got 1.5"),
        ("replan.workers.max", -1, "must be a whole number from 0 to 2147483647, got -1"),
        ("replan.cooldown.secs", -1, "must be >= 0 and <= 1e+09, got -1"),
        ("replan.persistence", "stay", "must be weight, pin or none, got 'stay'"),
    ],
)
def test_a_bad_value_keeps_the_default_and_is_named(name, value, fault):
    """The fault begins with the key; every other setting, given after it, is still taken."""
    settings = parse(
        {key(name): value, key("seed") if name != "seed" else key("frozen"): 5 if name != "seed" else True}
    )
    assert len(settings.faults) == 1
    assert settings.faults[0].startswith(f"{key(name)}: {fault}")
    assert settings.strategy == "local-search"
    assert settings.weights == {"response_time": 1.0}
    limits_moves = name.startswith(("image", "state", "cost", "migration", "budget", "duration", "replan"))
    assert settings.unclear == ((key(name),) if limits_moves else ())
    assert (settings.seed, settings.frozen) == ((5, False) if name != "seed" else (7, True))


@pytest.mark.parametrize("text", ["{", "[1]", "[" * 100_000])
def test_settings_that_are_no_object_leave_the_defaults(text):
    """Broken JSON is one fault, not an exception."""
    settings = parse(text)
    assert settings.faults[0].startswith("the settings are no JSON")
    assert settings.strategy == "local-search"


def test_an_empty_text_is_no_fault():
    """A shim that has nothing to say may send nothing."""
    assert parse("").faults == ()
