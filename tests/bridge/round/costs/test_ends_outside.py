"""Brokers and stores outside Storm draw what reads and writes them to their sites."""

from __future__ import annotations

import pytest

from bridge.wire.messages import Decision
from tests.bridge.round.costs.tier_rounds import chain, planned, settings_of, sites_of, tiers


def test_a_source_runs_where_its_tuples_come_from(make):
    """By response time, which counts from there on."""
    request = tiers(make, chain(make, "t", (1, 1), {"origin": {"c0": "site:e2"}}))
    (plan,) = planned(request, settings_of({}))
    assert sites_of(plan, request) == ["e2", "e2"]
    # over the 2 ms that leaving a worker costs, and 0.25 ms within a site; 1 ms for each executor
    assert plan.response_time_ms == pytest.approx(1 + 1 + 2.25)


def test_what_lies_between_two_ends_runs_between_them(make):
    """The response time of 62.2 ms and more counts once, wherever the bolt is."""
    keys = {"origin": {"c0": "site:e1"}, "destination": {"c1": "site:c1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys))
    (plan,) = planned(request, settings_of({}))
    assert plan.response_time_ms == pytest.approx(2 + 62.2 + 2.2, abs=0.1)


def test_flows_from_and_to_the_outside_take_bandwidth(make):
    """100 tuples of 50 bytes a second come in over the uplink, and 100 of 200 go out over another one."""
    keys = {
        "origin": {"c0": "site:e1"},
        "destination": {"c1": "site:c1"},
        "pin": {"c0": "site:f1", "c1": "site:f1"},
        "rates": {"c0": 100},
        "tuple.bytes": {"c0": 50, "c1": 200},
    }
    request = tiers(make, chain(make, "t", (2, 2), keys))
    limits = {"e1": 10_000.0, "c1": 25_000.0, "f1": 100_000.0}
    network = {"site": [{"name": name, "uplink_bytes_per_s": limit} for name, limit in limits.items()]}
    (plan,) = planned(request, settings_of(network))
    assert "uplink c1 20 of 25 kB/s, uplink e1 5 of 10 kB/s, uplink f1 25 of 100 kB/s" in plan.status


def test_a_declared_rate_of_the_last_component_is_what_goes_out(make):
    """It takes 100 tuples a second and sends 3 of them to the outside."""
    keys = {
        "destination": {"c1": "site:c1"},
        "pin": {"c0": "site:f1", "c1": "site:f1"},
        "rates": {"c0": 100, "c1": 3},
    }
    request = tiers(make, chain(make, "t", (1, 1), keys))
    network = {"site": [{"name": "c1", "uplink_bytes_per_s": 1_000.0}]}
    (plan,) = planned(request, settings_of(network))
    assert "uplink c1 0.3 of 1 kB/s" in plan.status


def test_a_stream_from_outside_costs_its_way_once(make):
    """However many executors take from it."""
    keys = {"origin": {"c0": "site:e1"}, "pin": {"c0": "site:c1"}, "weights": {"link_cost": 1}}
    request = tiers(make, chain(make, "t", (3,), keys))
    links = [("e1", "c1"), ("e1", "e2"), ("e1", "f1"), ("e2", "f1"), ("e2", "c1"), ("f1", "c1")]
    network = {"link": [{"between": [*pair], "cost": 7.0} for pair in links]}
    (plan,) = planned(request, settings_of(network))
    assert plan.objective == pytest.approx(7.0)


def test_a_site_that_has_no_host_is_as_far_as_the_file_says(make):
    """Without a word on it, it is as far as hosts of which nothing is known."""
    request = tiers(make, chain(make, "t", (1, 1), {"origin": {"c0": "site:shop"}}))
    near = {"site_delay": [{"between": ["shop", "f1"], "delay_ms": 1.0}]}
    (plan,) = planned(request, settings_of(near))
    assert sites_of(plan, request) == ["f1", "f1"]
    assert plan.response_time_ms == pytest.approx(1 + 1 + 3)
    (far,) = planned(request, settings_of({}))
    assert far.decision is Decision.ASSIGN
    assert far.response_time_ms == pytest.approx(1 + 1 + 102)


def test_a_site_of_which_nothing_is_known_is_named(make):
    """Most likely a slip of the pen: as far from all hosts as from each other it draws nothing anywhere."""
    keys = {"origin": {"c0": "site:shop"}, "destination": {"c1": "site:c1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys))
    (plan,) = planned(request, settings_of({}))
    assert "origin of c0 is site:shop, which neither a host nor the network's settings name" in plan.status
    assert "destination" not in plan.status
    for network in (
        {"site": [{"name": "shop", "tier": "edge"}]},
        {"site_delay": [{"between": ["f1", "shop"], "delay_ms": 1.0}]},
    ):
        (plan,) = planned(request, settings_of(network))
        assert "origin" not in plan.status
