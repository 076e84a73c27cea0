"""Hosts that can take nothing, and topologies larger than the cluster: named, and the others are served."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.wire.messages import Decision
from tests.bridge.round.whole_rounds import SIZES, answers, chain, hosts_and, settings_of

ONE_EACH = json.dumps({"topology.ras.one.executor.per.worker": True})


def with_first(request, **changes):
    """The first host is another one."""
    return replace(
        request, supervisors=(replace(request.supervisors[0], **changes), *request.supervisors[1:])
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "changes",
    [
        {"ports": ()},
        {"alive": False},
        {"blacklisted": True},
        {"meta": {"stormplace.executors": "0"}},
        {"cpu_percent": 1e-9},
        {"memory_mb": 1e-9},
    ],
    ids=str,
)
def test_a_host_that_can_take_nothing_gets_nothing(make, size, changes):
    request = with_first(hosts_and(make, chain(make, "a"), chain(make, "b")), **changes)
    for plan in answers(request, settings_of(size, "strict")).values():
        assert plan.decision is Decision.ASSIGN
        assert 0 not in plan.executor_supervisor


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("hosts", "changes"),
    [(0, {}), (3, {"ports": ()}), (3, {"alive": False}), (3, {"meta": {"stormplace.executors": "0"}})],
)
def test_a_cluster_that_can_take_nothing_refuses_every_topology_with_a_reason(make, size, hosts, changes):
    request = hosts_and(make, chain(make, "a"), chain(make, "b"), hosts=hosts, **changes)
    for plan in answers(request, settings_of(size)).values():
        assert plan.decision is Decision.UNPLACEABLE
        assert plan.status.startswith("not placed: ")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("resources", ["soft", "strict"])
@pytest.mark.parametrize("first", ["big", "good"])
def test_a_topology_that_needs_more_slots_than_there_are_leaves_the_others_theirs(
    make, size, resources, first
):
    """Twenty workers for sixteen slots, whatever capacities allow."""
    big = chain(make, "big", (8, 12), storm_json=ONE_EACH)
    topologies = sorted((big, chain(make, "good")), key=lambda topology: topology.id != first)
    plans = answers(hosts_and(make, *topologies), settings_of(size, resources))
    assert plans["good"].decision is Decision.ASSIGN
    assert plans["big"].decision is Decision.UNPLACEABLE
    assert "20 workers" in plans["big"].status


def test_the_limit_that_is_named_is_one_that_gives_way_to_nothing(make):
    """CPU is short too, but that alone would not keep it from running."""
    big = chain(make, "big", (200, 200), cpu=100.0)
    plans = answers(hosts_and(make, big), settings_of("by counts"))
    assert plans["big"].status == "not placed: it needs 67 workers, 16 slots are free"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("demand", "named"), [({"cpu": 100.0}, ("CPU", "cpu")), ({"memory": 1024.0}, ("memory",))]
)
def test_a_topology_that_asks_for_more_than_all_hosts_offer_is_refused_with_the_amounts(
    make, size, demand, named
):
    many = tuple(range(6700, 6720))
    big = chain(make, "big", (20, 20), **demand)
    plans = answers(hosts_and(make, big, chain(make, "good"), ports=many), settings_of(size, "strict"))
    assert plans["good"].decision is Decision.ASSIGN
    assert plans["big"].decision is Decision.UNPLACEABLE
    assert any(name in plans["big"].status for name in named)


@pytest.mark.parametrize("size", SIZES)
def test_one_that_fits_no_other_way_is_placed_above_what_is_declared(make, size):
    """Forty cores asked for, sixteen there: Storm's default scheduler would run it, too."""
    big = chain(make, "big", (20, 20), cpu=100.0)
    plans = answers(hosts_and(make, big, chain(make, "good")), settings_of(size))
    assert [plans[name].decision for name in ("big", "good")] == [Decision.ASSIGN] * 2
    assert "above what is declared" in plans["big"].status
