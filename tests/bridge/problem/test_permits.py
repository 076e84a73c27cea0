"""A host of unknown site neither meets nor breaks a pin; it is at no avoided site unless it is silent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import hosts_of, only

SITES = ("uniroma2", "europe-west1", "us-east1")


def sited_by_agents(make, silent, topology, stale=()):
    """The cluster whose supervisors state no site; some agents are silent, or their readings are stale."""
    request = make.cluster(topology)
    return replace(
        request,
        supervisors=tuple(replace(each, meta={"stormplace.executors": "2"}) for each in request.supervisors),
        readings=tuple(
            replace(each, age_ms=60_000 if each.name in stale else each.age_ms)
            for each in request.readings
            if each.name not in silent
        ),
    )


def pair(make, at, **settings):
    """c0 and c1 run at these supervisors, -1 where they do not."""
    keys = {f"topology.stormplace.{key}": value for key, value in settings.items()}
    topology = replace(make.chain("a", [1, 1], [Grouping.SHUFFLE]), settings_json=json.dumps(keys))
    return make.assigned(topology, at, [-1 if index < 0 else 6700 for index in at])


@pytest.mark.parametrize(
    ("at", "settings"),
    [([0, 1], {"pin": {"c0": "site:uniroma2"}}), ([0, 1], {"avoid": {"c0": "site:us-east1"}})],
)
def test_what_runs_on_a_host_that_falls_silent_stays(make, at, settings):
    """uniroma2-1 publishes its site no more, and c0 would come to it no more."""
    answer = only(sited_by_agents(make, ["uniroma2-1"], pair(make, at, **settings)))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: ")
    assert "pin not met" not in answer.status


def test_it_stays_while_others_move_for_a_gain(make):
    """c0 stays on its silent host, to which links lead still; c1 comes next door from far away."""
    request = sited_by_agents(make, ["uniroma2-1"], pair(make, [0, 5], pin={"c0": "site:uniroma2"}))
    near = {"uniroma2-1": {"delay_ms": 0.2, "age_s": 0.0}}
    far = {"uniroma2-1": {"delay_ms": 120.0, "age_s": 0.0}}
    one = {"stormplace.executors": "1"}
    answer = only(
        replace(
            request,
            supervisors=tuple(replace(each, meta={**each.meta, **one}) for each in request.supervisors),
            readings=(
                make.reading("uniroma2-2", "uniroma2", 0.0, links=near),
                *request.readings[1:4],
                make.reading("us-east1-1", "us-east1", 120.0, links=far),
            ),
        )
    )
    assert answer.decision is Decision.ASSIGN
    assert (answer.executor_supervisor[0], answer.price.executors_moved) == (0, 1)


def test_nothing_new_comes_to_a_host_that_may_be_at_an_avoided_site(make):
    """uniroma2-2 publishes no site; it is by far the nearest to c0."""
    topology = pair(make, [0, -1], avoid={"c1": ["site:us-east1", "host:uniroma2-1", "host:uniroma2-3"]})
    request = sited_by_agents(make, ["uniroma2-1", "uniroma2-2"], topology)
    near = make.reading("uniroma2-1", "uniroma2", 0.0, links={"uniroma2-2": {"delay_ms": 0.1, "age_s": 0.0}})
    request = replace(request, readings=(near, *request.readings))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[1].startswith("europe-west1")


@pytest.mark.parametrize(
    ("settings", "silent", "reason"),
    [
        (
            {"pin": {"c1": "site:us-east1"}},
            ("us-east1-1", "us-east1-2"),
            "not placed: c1 is pinned to site:us-east1, whose hosts are not known at present "
            "(2 hosts have no site); ",
        ),
        (
            {"pin": {"c1": "site:us-east1"}},
            (),
            "not placed: c1 is pinned to site:us-east1, which is not in the cluster; ",
        ),
        (
            {"avoid": {"c1": [f"host:{site}-{k}" for site in SITES for k in (1, 2, 3)]}},
            ("us-east1-1",),
            "not placed: no usable host is permitted to c1; ",
        ),
        (
            {"pin": {"c1": "host:mars"}},
            ("us-east1-1",),
            "not placed: c1 is pinned to host:mars, which is not in the cluster; ",
        ),
    ],
)
def test_a_refusal_says_that_sites_are_not_known(make, settings, silent, reason):
    """A pinned site that no agent publishes may be there; us-east1 has the silent hosts alone."""
    request = sited_by_agents(make, silent, pair(make, [0, -1], **settings))
    there = tuple(
        each for each in request.supervisors if each.host in silent or not each.host.startswith("us-east1")
    )
    assert only(replace(request, supervisors=there)).status.startswith(reason)


def test_the_site_that_a_stale_reading_tells_still_counts(make):
    """Hosts stay where they are: c1 is placed at us-east1 while no agent of it publishes."""
    lost = ("us-east1-1", "us-east1-2")
    topology = pair(make, [0, -1], pin={"c1": "site:us-east1"})
    request = sited_by_agents(make, (), topology, stale=lost)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[1] in lost


def labelled(make, topology, sites, agents=False):
    """The cluster where hosts of these sites alone are labelled; agents know no site, or there are none."""
    request = make.cluster(topology)
    return replace(
        request,
        supervisors=tuple(
            each
            if each.meta["stormplace.site"] in sites
            else replace(each, meta={"stormplace.executors": "2"})
            for each in request.supervisors
        ),
        readings=tuple(make.reading(each.host, None, 0.0) for each in request.supervisors) if agents else (),
    )


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("sites", [(), ("us-east1",), ("us-east1", "europe-west1")])
def test_hosts_without_a_label_are_away_from_the_site_that_is_avoided(make, sites, agents):
    """Sites are stated by supervisors: eight executors need hosts without a label, too."""
    avoiding = json.dumps({"topology.stormplace.avoid": "site:us-east1"})
    topology = replace(make.chain("a", [4, 4], [Grouping.SHUFFLE]), settings_json=avoiding)
    request = labelled(make, topology, sites, agents)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert not any(host in ("us-east1-1", "us-east1-2") for host in hosts_of(request, answer) if sites)
    assert "as no others have room" not in answer.status


def test_a_host_without_a_label_is_as_good_as_one_that_is_known_to_suit(make):
    """It is the nearest, and gains may lead there: c1 leaves the far site that it may run at."""
    request = labelled(make, pair(make, [0, 5], avoid={"c1": "site:europe-west1"}), SITES[1:], agents=True)
    x = {"uniroma2": 0.0, "europe-west1": 60.0, "us-east1": 120.0}
    readings = tuple(make.reading(each.host, None, x[each.host[:-2]]) for each in request.supervisors)
    answer = only(replace(request, readings=readings))
    assert answer.status.startswith("moved 1 executor (")
    assert hosts_of(request, answer)[1].startswith("uniroma2")


@pytest.mark.parametrize(
    ("needed", "silent", "noted"),
    [
        (2, ("uniroma2-1", "us-east1-1"), False),
        (4, ("uniroma2-1", "us-east1-1"), False),
        (5, ("uniroma2-1", "us-east1-1"), True),
        (2, (*(f"uniroma2-{k}" for k in (1, 2, 3)), "us-east1-1"), True),
    ],
)
def test_hosts_whose_agent_is_silent_are_second_choice(make, needed, silent, noted):
    """uniroma2 has room for four on hosts with a reading; the others come only when these are full."""
    avoiding = json.dumps({"topology.stormplace.avoid": ["site:us-east1", "site:europe-west1"]})
    topology = replace(make.chain("a", [1, needed - 1], [Grouping.SHUFFLE]), settings_json=avoiding)
    request = sited_by_agents(make, silent, topology)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    hosts = set(hosts_of(request, answer))
    assert hosts <= {*silent, "uniroma2-2", "uniroma2-3"}
    assert bool(hosts & set(silent)) is noted
    assert (" on hosts without a reading as no others have room" in answer.status) is noted


def test_a_stale_reading_keeps_executors_from_the_site_that_it_tells(make):
    """The agents of us-east1 hang: it is avoided, though there is no room anywhere else."""
    avoiding = {"c1": ["site:us-east1", "site:europe-west1", "host:uniroma2-2", "host:uniroma2-3"]}
    topology = pair(make, [0, -1], avoid={**avoiding, "*": "host:uniroma2-1"})
    answer = only(sited_by_agents(make, (), topology, stale=("us-east1-1", "us-east1-2")))
    assert answer.status.startswith("not placed: no usable host is permitted to c1; ")
