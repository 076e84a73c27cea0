"""Supervisors that share a host are one node; contradictions in their metadata are named."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bridge.network.cluster import CPU, EXECUTORS, MEMORY, UNLIMITED, gather_hosts
from bridge.readings.believed import read_nodes
from bridge.settings import CapacitySettings, ReadingsSettings, Settings


def gather(make, *supervisors, capacity=CapacitySettings(), readings=(), topologies=()):  # noqa: B008  # frozen
    request = replace(make.cluster(*topologies), supervisors=supervisors, readings=readings)
    believed = read_nodes(request, {each.host for each in supervisors}, ReadingsSettings())
    return gather_hosts(request, Settings(capacity=capacity), believed)


def test_hosts_are_sorted_and_hold_all_their_supervisors(make):
    """Node order depends on host names alone."""
    hosts = gather(make, make.supervisor("b"), make.supervisor("a", id="x"), make.supervisor("b", id="y"))
    assert [(host.name, host.supervisors) for host in hosts.hosts] == [("a", (1,)), ("b", (0, 2))]
    assert hosts.host_of_supervisor == (1, 0, 1)


@pytest.mark.parametrize(
    ("changes", "usable"), [({}, True), ({"alive": False}, False), ({"blacklisted": True}, False)]
)
def test_dead_and_blacklisted_hosts_have_no_capacity(make, changes, usable):
    """They stay nodes, because executors may still run there."""
    host = gather(make, make.supervisor("a", **changes)).hosts[0]
    assert host.usable is usable
    assert host.capacity[EXECUTORS] == (4.0 if usable else 0.0)


@pytest.mark.parametrize("amount", [-1.0, math.nan, math.inf])
def test_a_capacity_that_is_no_amount_is_unknown_and_named(make, amount):
    hosts = gather(make, make.supervisor("a", cpu_percent=amount, resources=(amount,)), make.supervisor("b"))
    assert hosts.hosts[0].capacity == hosts.hosts[1].capacity
    named = [f"{name} of supervisor id-a is no amount ({amount:g})" for name in ("CPU", "resource 0")]
    assert list(hosts.faults) == named


@pytest.mark.parametrize(
    ("values", "executors", "n_faults"),
    [
        (["3"], 3, 0),
        (["3", "2"], 2, 1),
        (["3", None], 3, 0),
        (["x"], 8, 1),
        (["-1"], 8, 1),
        (["9" * 5000], 8, 1),
    ],
)
def test_metadata_overrides_the_number_of_executors(make, values, executors, n_faults):
    """The least of contradictory values counts; what is no number is a fault and leaves the default."""
    supervisors = [
        make.supervisor("a", id=str(number), meta={} if value is None else {"stormplace.executors": value})
        for number, value in enumerate(values)
    ]
    hosts = gather(make, *supervisors, capacity=CapacitySettings(executors_per_host=8))
    assert hosts.hosts[0].capacity[EXECUTORS] == executors
    assert len(hosts.faults) == n_faults


def test_cpu_and_memory_are_summed_over_usable_supervisors_or_unlimited(make):
    """An unknown capacity (0) limits nothing."""
    supervisors = (
        make.supervisor("a", id="1", cpu_percent=100.0, memory_mb=0.0),
        make.supervisor("a", id="2", cpu_percent=50.0, memory_mb=64.0),
        make.supervisor("a", id="3", cpu_percent=50.0, memory_mb=64.0, alive=False),
    )
    host = gather(make, *supervisors).hosts[0]
    assert (host.capacity[CPU], host.capacity[MEMORY]) == (150.0, UNLIMITED)


def test_without_resources_only_executors_limit_a_host(make):
    host = gather(make, make.supervisor("a"), capacity=CapacitySettings(resources="off")).hosts[0]
    assert set(host.capacity) == {EXECUTORS}


@pytest.mark.parametrize(
    ("executors", "limits"),
    [(3, [4, 8]), (12, [4, 8]), (40, [14, 27])],
    ids=["few", "one per core", "more than cores"],
)
def test_without_a_stated_number_hosts_carry_their_fair_share_of_executors(make, executors, limits):
    """One per core, or as many as all executors need if they are spread over twelve cores."""
    supervisors = (make.supervisor("a"), make.supervisor("b", cpu_percent=850.0))
    hosts = gather(make, *supervisors, topologies=(make.chain("t", [executors], []),)).hosts
    assert [host.capacity[EXECUTORS] for host in hosts] == limits
    assert not any(host.limited for host in hosts)


def test_a_stated_number_is_a_limit(make):
    stated = make.supervisor("a", meta={"stormplace.executors": "3"})
    hosts = gather(make, stated, make.supervisor("b")).hosts
    assert [host.limited for host in hosts] == [True, False]
    settled = gather(make, make.supervisor("b"), capacity=CapacitySettings(executors_per_host=5)).hosts
    assert (settled[0].capacity[EXECUTORS], settled[0].limited) == (5.0, True)


def test_a_site_comes_from_metadata_else_from_the_agent(make):
    """Where both speak and differ, metadata counts and the contradiction is named."""
    hosts = gather(
        make,
        make.supervisor("a", "rome"),
        make.supervisor("b"),
        make.supervisor("c"),
        make.supervisor("a", "paris", id="2"),
        readings=(make.reading("a", "oslo", 0.0), make.reading("b", "oslo", 0.0)),
    )
    assert [host.site for host in hosts.hosts] == ["paris", "oslo", None]
    assert hosts.faults == (
        "supervisors of a name several sites (paris, rome)",
        "a is at site paris by its supervisor and at oslo by its agent",
    )


@pytest.mark.parametrize(
    ("values", "cost", "n_faults"),
    [
        ([], None, 0),
        (["2.5"], 2.5, 0),
        (["0"], 0.0, 0),
        (["2.5", "3"], 3.0, 1),
        (["-1"], None, 1),
        (["nan"], None, 1),
        (["1e9"], None, 1),
        (["dear", "4"], 4.0, 1),
    ],
)
def test_a_host_costs_what_its_metadata_says(make, values, cost, n_faults):
    """The greatest of several; what is no number is named."""
    meta = [{"stormplace.cost": value} for value in values]
    supervisors = [make.supervisor("a", id=f"s{k}", meta=each) for k, each in enumerate(meta)]
    hosts = gather(make, *supervisors, make.supervisor("a"))
    assert hosts.hosts[0].cost == cost
    assert len(hosts.faults) == n_faults


@pytest.mark.parametrize(
    ("meta", "cost", "faults"),
    [
        ([{"stormplace.price.per.hour": "3600"}], 1.0, ()),
        ([{"stormplace.price.per.hour": "0.36"}], 0.0001, ()),
        ([{"stormplace.price.per.hour": "1"}, {"stormplace.cost": "0.000277778"}], 0.000277778, ()),
        (
            [{"stormplace.price.per.hour": "3600", "stormplace.cost": "2"}],
            2.0,
            ("a costs 7200 an hour by stormplace.cost and 3600 by stormplace.price.per.hour",),
        ),
        (
            [{"stormplace.price.per.hour": "-1"}],
            None,
            ("stormplace.price.per.hour of supervisor id-a is no number >= 0 ('-1')",),
        ),
    ],
)
def test_a_price_may_be_stated_by_the_hour(make, meta, cost, faults):
    """The greater of two that differ by more than digits; a negative one is none, and named."""
    supervisors = [make.supervisor("a", id="id-a", meta=each) for each in meta]
    hosts = gather(make, *supervisors)
    assert hosts.hosts[0].cost == (cost if cost is None else pytest.approx(cost))
    assert hosts.faults == faults


@pytest.mark.parametrize(
    ("values", "known", "n_faults"),
    [
        ([], None, 0),
        (["1.5"], 1.5, 0),
        (["2", "1.5"], 1.5, 1),
        (["0"], None, 1),
        (["0.0"], None, 1),
        (["-2", "3"], 3.0, 1),
        (["fast"], None, 1),
    ],
)
@pytest.mark.parametrize("key", ["stormplace.speedup", "stormplace.pull.mb.per.sec"])
def test_speed_and_rate_of_loading_are_the_least_that_is_stated(make, values, known, n_faults, key):
    """A host that states no speed is as fast as the reference; a rate is not guessed."""
    supervisors = [make.supervisor("a", id=f"s{k}", meta={key: value}) for k, value in enumerate(values)]
    hosts = gather(make, *supervisors, make.supervisor("a"))
    host = hosts.hosts[0]
    if key == "stormplace.speedup":
        assert host.speedup == (known or 1.0)
    else:
        assert host.pull_mb_per_s == known
    assert len(hosts.faults) == n_faults
