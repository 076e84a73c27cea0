"""Topologies are placed by what their executors and streams cost, as far as that is stated."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest

from bridge.round.planner import plan_round
from bridge.wire.messages import Decision
from tests.bridge.round.costs.tier_rounds import (
    SITES,
    UNIT_COSTS,
    chain,
    hosts_of,
    planned,
    settings_of,
    sites_of,
    tiers,
)

BOTH = {"placement_cost": 0.5, "link_cost": 0.5}
LINKS = [
    {"between": ["e1", "e2"], "cost": 4.0},
    {"between": ["e1", "f1"], "cost": 5.0},
    {"between": ["e2", "f1"], "cost": 6.0},
    {"between": ["e1", "c1"], "cost": 65.0},
    {"between": ["e2", "c1"], "cost": 70.0},
    {"between": ["f1", "c1"], "cost": 60.0},
]
OURS = ("inop-exact", "inop-search", "inop-sequential", "portfolio", "auto")


def link_cost(one, other):
    """What a stream costs between two sites."""
    return next((each["cost"] for each in LINKS if set(each["between"]) == {one, other}), 0.0)


def least_cost(places):
    """Least cost of a chain of executors of 10 % of a core, two of which fit on a host, by trying all."""
    tier = {site: values[0] for site, values in SITES.items()}
    room = {site: 2 * values[2] for site, values in SITES.items()}
    costs = []
    for sites in product(*places):
        if all(sites.count(site) <= room[site] for site in sites):
            placing = sum(10.0 * float(UNIT_COSTS[tier[site]]) for site in sites)
            linking = sum(link_cost(*pair) for pair in pairwise(sites))
            costs.append(0.5 * placing + 0.5 * linking)
    return min(costs)


@pytest.mark.parametrize("strategy", OURS)
def test_a_chain_runs_where_it_costs_least(make, strategy):
    """Its source is at the edge and its sink in the cloud: what lies between is cheapest there too."""
    keys = {"strategy": strategy, "weights": BOTH, "pin": {"c0": "site:e1", "c4": "site:c1"}}
    request = tiers(make, chain(make, "t", (1, 1, 1, 1, 1), keys))
    (plan,) = planned(request, settings_of({"link": LINKS}))
    assert plan.objective == pytest.approx(least_cost([["e1"], SITES, SITES, SITES, ["c1"]]))
    assert sites_of(plan, request) == ["e1", "c1", "c1", "c1", "c1"]
    assert "placement cost 30, link cost 65" in plan.status


def test_costs_of_the_file_are_for_hosts_that_state_none(make):
    """Of a site in the daemon's file; what a supervisor states comes first."""
    keys = {"weights": {"placement_cost": 1}, "pin": {"c0": "site:e1", "c1": "site:f1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys), unit_costs={"edge": "1.0", "cloud": "1.0"})
    file = {"site": [{"name": "f1", "unit_cost": 3.0}, {"name": "e1", "unit_cost": 7.0}]}
    (plan,) = planned(request, settings_of(file))
    assert "placement cost 40" in plan.status
    assert "is weighed but" not in plan.status


def test_a_unit_cost_that_one_host_lacks_counts_for_none(make):
    """What is left out would look cheap: the status says so, and places by the rest."""
    keys = {"weights": BOTH, "pin": {"c0": "site:e1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys), unit_costs={"edge": "1.0", "fog": "1.0"})
    (plan,) = planned(request, settings_of({}))
    assert "placement cost 0, link cost 0" in plan.status
    assert "placement_cost is weighed but 6 hosts state no stormplace.unit.cost" in plan.status
    (bare,) = planned(replace(tiers(make, *request.topologies, unit_costs={})), settings_of({}))
    assert "placement_cost is weighed but no supervisor states stormplace.unit.cost" in bare.status


def test_no_lacking_unit_cost_is_named_where_costs_are_stated_outright(make):
    """Each component's cost is known at each place that it may use."""
    costs = {"c0": {"edge": 1, "fog": 1, "cloud": 1}, "c1": {"f1": 3}}
    keys = {"weights": BOTH, "placement.cost": costs, "pin": {"c1": "site:f1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys), unit_costs={})
    (plan,) = planned(request, settings_of({}))
    assert "placement cost 4" in plan.status
    assert "is weighed but" not in plan.status


def test_the_narrower_place_states_the_cost(make):
    """A host before its site, and that before its tier; elsewhere the load at the unit cost."""
    costs = {"c0": {"tier:edge": 50, "site:e2": 40, "host:e1-0001": 7, "cloud": 8, "c1": 9, "fog": 60}}
    keys = {"weights": {"placement_cost": 1}, "placement.cost": costs}
    request = tiers(make, chain(make, "t", (4, 1), keys))
    (plan,) = planned(request, settings_of({}))
    assert sorted(hosts_of(plan, request)[:2]) == ["e1-0001", "e1-0001"]
    assert sites_of(plan, request)[2:] == ["c1", "c1", "c1"]
    assert plan.objective == pytest.approx(7 + 7 + 9 + 9 + 5)


def test_a_link_without_a_cost_leaves_it_to_delays(make):
    """One pair of sites is missing among others that are stated: no cost is made up for it."""
    keys = {"weights": {"link_cost": 1}, "pin": {"c0": "site:e1", "c1": "site:c1"}}
    request = tiers(make, chain(make, "t", (1, 1), keys))
    (plan,) = planned(request, settings_of({"link": LINKS[1:]}))
    # 60 ms on the line, 0.2 of both heights, and 2 for leaving a worker
    assert plan.objective == pytest.approx(62.2)
    said = "link_cost is weighed but network.link states no cost between e1 and e2: delays count"
    assert said in plan.status.replace("between e2 and e1", "between e1 and e2")


@pytest.mark.parametrize(
    ("basis", "cost"),
    [("stream", 65.0), ("flow", 4 * 65.0), ("traffic", 80.0 * 100.0 * 65.0)],
    ids=str,
)
def test_what_a_stream_pays_by(make, basis, cost):
    """Two executors send 40 tuples of 100 bytes a second each to two others, over one way."""
    keys = {
        "weights": {"link_cost": 1},
        "pin": {"c0": "site:e1", "c1": "site:c1"},
        "rates": {"c0": 80},
        "link.cost.basis": basis,
    }
    request = tiers(make, chain(make, "t", (2, 2), keys))
    (plan,) = planned(request, settings_of({"link": LINKS}))
    assert plan.objective == pytest.approx(cost)


def test_components_share_hosts(make):
    """The first two executors of four with the first of two, and so on."""
    keys = {"colocate": [["c1", "c0"]], "avoid": "tier:cloud"}
    request = tiers(make, chain(make, "t", (2, 2, 2), keys))
    (plan,) = planned(request, settings_of({}))
    hosts = hosts_of(plan, request)
    assert hosts[2:4] == hosts[0:2]
    wider = tiers(make, chain(make, "t", (2, 4), {"colocate": [["c1", "c0"]]}))
    four = tuple(replace(each, meta={**each.meta, "stormplace.executors": "3"}) for each in wider.supervisors)
    (plan,) = planned(replace(wider, supervisors=four), settings_of({}))
    hosts = hosts_of(plan, wider)
    assert hosts[2:] == [hosts[0], hosts[0], hosts[1], hosts[1]]


def test_what_cannot_share_a_host_is_named(make):
    """Three executors on hosts for two: the topology is not placed, another one is."""
    keys = {"colocate": [["c1", "c0"]]}
    request = tiers(make, chain(make, "a", (1, 2), keys), chain(make, "b", (1, 1), {}))
    first, second = planned(request, settings_of({}))
    assert first.decision is Decision.UNPLACEABLE
    assert "have to share a node, and none allowed for them has room for all" in first.status
    assert second.decision is Decision.ASSIGN


def test_a_strategy_for_links_weighs_costs_unless_weights_are_stated(make):
    """As the paper does, both alike; its heuristics drop what they add where that leaves nothing."""
    request = tiers(make, chain(make, "t", (1, 1), {"strategy": "inop-comb-2", "pin": {"c0": "site:e1"}}))
    (plan,) = planned(request, settings_of({"link": LINKS}))
    assert "placement cost" in plan.status
    stated = chain(make, "t", (1, 1), {"strategy": "inop-comb-2", "weights": {"response_time": 1}})
    (plan,) = planned(tiers(make, stated), settings_of({"link": LINKS}))
    assert "placement cost" not in plan.status


@pytest.mark.parametrize("strategy", ["inop-restrict", "inop-comb-1", "inop-comb-3"])
def test_a_host_without_a_tier_is_named_and_others_are_served(make, strategy):
    """No guess at it; a topology whose strategy does not ask is placed."""
    request = tiers(make, chain(make, "a", (1, 1), {"strategy": strategy}), chain(make, "b", (1, 1), {}))
    bare = {key: value for key, value in request.supervisors[3].meta.items() if key != "stormplace.tier"}
    supervisors = (*request.supervisors[:3], replace(request.supervisors[3], meta=bare))
    first, second = planned(
        replace(request, supervisors=(*supervisors, *request.supervisors[4:])), settings_of({})
    )
    assert first.decision is Decision.UNPLACEABLE
    assert f"tier is missing ({request.supervisors[3].host}): {strategy} looks at the tiers" in first.status
    assert second.decision is Decision.ASSIGN


def test_cloud_greedy_leaves_what_may_not_come_to_the_cloud(make):
    """A source pinned to the edge stays there, the rest is on the cheapest hosts of the cloud."""
    keys = {"strategy": "cloud-greedy", "pin": {"c0": "site:e1"}}
    request = tiers(make, chain(make, "t", (2, 2, 2), keys))
    (plan,) = planned(request, settings_of({"link": LINKS}))
    assert sites_of(plan, request) == ["e1", "e1", "c1", "c1", "c1", "c1"]


def test_many_hosts_are_looked_at_by_costs_too(make):
    """Of two thousand some are chosen, and the topology is placed there by what it costs."""
    keys = {"weights": BOTH, "pin": {"c0": "site:e1", "c2": "site:c1"}}
    request = tiers(make, chain(make, "t", (1, 1, 1), keys), times=167)
    (plan,) = planned(request, settings_of({"link": LINKS}))
    assert sites_of(plan, request) == ["e1", "c1", "c1"]
    assert "placement cost 20, link cost 65" in plan.status


def test_counts_say_that_they_do_not_look_at_costs(make):
    """A topology that is too large to be looked at closely."""
    keys = {"weights": BOTH, "colocate": [["c0", "c1"]], "origin": {"c0": "site:e1"}}
    request = tiers(make, chain(make, "t", (60, 60), keys), times=167)
    network = {"site": [{"name": "e1", "uplink_bytes_per_s": 5000.0}]}
    (plan,) = planned(request, settings_of(network))
    said = "costs, colocate, origin and destination, bandwidths between sites do not count"
    assert f"{said}, as the round is large" in plan.status


def test_places_that_no_host_has_are_named(make):
    """A tier may be empty for a while, so that it is not."""
    costs = {"c0": {"regio-a": 9, "host:gone": 1, "e1": 2, "edge": 3}}
    keys = {"weights": {"placement_cost": 1}, "placement.cost": costs}
    (plan,) = planned(tiers(make, chain(make, "t", (1, 1), keys)), settings_of({}))
    assert "placement.cost names host:gone, site:regio-a, where no host is" in plan.status


def test_what_is_to_share_a_host_and_does_not_moves(make):
    """Whatever it gains: as a pin that is stated while a topology runs; then it stays."""
    running = make.assigned(chain(make, "t", (1, 1), {"colocate": [["c0", "c1"]]}), [0, 1])
    request = tiers(make, running)
    done = plan_round(request, settings_of({}), lambda: 0.0)
    (plan,) = done.response.plans
    assert "as colocate of c0, c1 is not met" in plan.status
    assert len(set(hosts_of(plan, request))) == 1
    (kept,) = planned(make.carried_out(request, done.response), settings_of({}))
    assert kept.decision is Decision.KEEP
    assert "colocate" not in kept.status
    alone = {"colocate": [["c0", "c1"]], "pin": {"c0": "host:e1-0000", "c1": "host:e1-0001"}}
    apart = make.assigned(chain(make, "t", (1, 1), alone), [0, 1])
    (stuck,) = planned(tiers(make, apart), settings_of({}))
    assert stuck.decision is Decision.KEEP
    assert "colocate of c0, c1 is not met: no candidate" in stuck.status
