"""Topologies of lower priority go where others find no room, in small and in large rounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, repeat

import pytest

from bridge.round.eviction import with_evictions
from bridge.round.memory import NOTHING
from bridge.round.round_data import gather_data
from bridge.round.round_report import Course
from bridge.round.small.small_round import plan_small_round
from bridge.settings import PlanSettings
from bridge.wire.messages import Decision
from scheduler.contract.children import INLINE
from tests.bridge.round.full_clusters import BOTH, cluster, hosts_of, strict, strict_settings, topology

FROZEN = '{"topology.stormplace.frozen": true}'


def _running(make, name, hosts, port=6700, **changes):
    """A topology whose executors run on hosts, one worker per host."""
    return make.assigned(topology(make, name, len(hosts), **changes), hosts, port)


def _evicted(plans):
    return {name: plan.evicted_for for name, plan in plans.items() if plan.evicted_for is not None}


@BOTH
def test_nothing_is_evicted_by_default(make, max_pairs) -> None:
    low = _running(make, "low", (0,) * 4, priority=20)
    plans, _ = strict(max_pairs)(cluster(make, low, topology(make, "high", priority=1), hosts=1))
    assert plans["high"].decision is Decision.UNPLACEABLE
    assert plans["low"].decision is Decision.KEEP


@BOTH
def test_a_topology_of_lower_priority_goes(make, max_pairs) -> None:
    """And the round after that changes nothing: the plan was carried out."""
    plan = strict(max_pairs, evict=True)
    low = _running(make, "low", (0,) * 4, priority=20)
    request = cluster(make, low, topology(make, "high", priority=1), hosts=1)
    plans, done = plan(request)
    assert _evicted(plans) == {"low": "high"}
    assert plans["low"].decision is Decision.UNPLACEABLE
    assert plans["low"].status == "not placed: evicted for high, whose priority is 1, not 20"
    assert plans["high"].decision is Decision.ASSIGN
    assert plans["high"].status.startswith("evicted for it: low; placed by ")
    assert done.response.hold_ms is None
    following, _ = plan(make.carried_out(request, done.response))
    assert [each.decision for each in following.values()] == [Decision.UNPLACEABLE, Decision.KEEP]
    assert _evicted(following) == {}


@BOTH
@pytest.mark.parametrize("changes", [{"priority": 1}, {"priority": 0}, {"settings_json": FROZEN}])
def test_equals_betters_and_frozen_ones_stay(make, max_pairs, changes) -> None:
    low = _running(make, "low", (0,) * 4, **changes)
    new = topology(make, "new", priority=1, launched_s=-9)
    plans, _ = strict(max_pairs, evict=True)(cluster(make, low, new, hosts=1))
    assert _evicted(plans) == {}
    assert plans["new"].decision is Decision.UNPLACEABLE


@BOTH
def test_nothing_goes_for_a_topology_that_is_being_killed(make, max_pairs) -> None:
    low = _running(make, "low", (0,) * 4, priority=20)
    killed = topology(make, "killed", priority=1, status="KILLED")
    plans, _ = strict(max_pairs, evict=True)(cluster(make, low, killed, hosts=1))
    assert _evicted(plans) == {}


@BOTH
def test_the_lowest_goes_and_no_more_than_needed(make, max_pairs) -> None:
    lower = [_running(make, f"low{each}", (each,) * 4, priority=20 + each) for each in range(3)]
    request = cluster(make, *lower, topology(make, "high", priority=1), hosts=3)
    plans, _ = strict(max_pairs, evict=True)(request)
    assert _evicted(plans) == {"low2": "high"}
    assert hosts_of(request, plans["high"]) == {"h2"}


@BOTH
def test_a_lower_one_whose_room_does_not_help_stays(make, max_pairs) -> None:
    """The executors need three cores each: the lowest has one, so the one above it goes."""
    middle = _running(make, "middle", (0,) * 4, priority=20)
    lowest = _running(make, "lowest", (1,), priority=30)
    above = _running(make, "above", (1,) * 3, 6701, priority=0)
    high = topology(make, "high", 1, cpu=300.0, priority=10)
    plans, _ = strict(max_pairs, evict=True)(cluster(make, middle, lowest, above, high))
    assert _evicted(plans) == {"middle": "high"}


@BOTH
def test_one_that_is_not_needed_beside_another_stays(make, max_pairs) -> None:
    """Both run on the same host; the room of the lower one is not enough, that of the other one is."""
    lower = _running(make, "lower", (0,), priority=30)
    upper = _running(make, "upper", (0,) * 3, 6701, priority=20)
    high = topology(make, "high", 1, cpu=300.0, priority=10)
    request = cluster(make, lower, upper, high, hosts=1, ports=(6700, 6701, 6702))
    plans, _ = strict(max_pairs, evict=True)(request)
    assert _evicted(plans) == {"upper": "high"}


def test_if_time_runs_out_only_those_go_that_ran_on_its_hosts(make) -> None:
    """The time suffices to find that it fits without all three, not to find which of them may stay."""
    lower = [_running(make, f"low{each}", (each,) * 4, priority=20) for each in range(3)]
    request = cluster(make, *lower, topology(make, "high", priority=1), hosts=3)
    settings = strict_settings(10**9, evict=True)
    late = chain((False, False), repeat(True))

    def planned(each):
        data = gather_data(each, settings)
        return plan_small_round(each, settings, data, NOTHING, Course(lambda: 0.0, 1.0, 0.0, INLINE))

    done = with_evictions(request, planned(request), settings.plan, planned, lambda: next(late))
    plans = {plan.topology_id: plan for plan in done.response.plans}
    gone = {f"low{host.removeprefix('h')}" for host in hosts_of(request, plans["high"])}
    assert set(_evicted(plans)) == gone
    assert len(gone) < 3
    assert done.timed_out


def test_others_stand_still_while_room_is_looked_for(make) -> None:
    """One of two executors may leave for its pin in this round, so that not all of the host is free."""
    pin = '{"topology.stormplace.pin": {"c0": "host:h1", "c1": "host:h1"}}'
    mover = _running(make, "mover", (0,) * 2, (6700, 6701), priority=0, settings_json=pin)
    low = _running(make, "low", (0,) * 2, 6702, priority=20)
    avoid = '{"topology.stormplace.avoid": "host:h1"}'
    high = topology(make, "high", 2, cpu=200.0, priority=1, settings_json=avoid)
    request = cluster(make, mover, low, high, ports=(6700, 6701, 6702))
    plans, _ = strict(10**9, evict=True, max_moves=1)(request)
    assert plans["mover"].price.executors_moved == 1
    assert _evicted(plans) == {}


@BOTH
def test_several_go_where_one_is_not_enough(make, max_pairs) -> None:
    lower = [_running(make, f"low{each}", (each,) * 4, priority=20) for each in range(3)]
    plans, _ = strict(max_pairs, evict=True)(
        cluster(make, *lower, topology(make, "high", 8, priority=1), hosts=3)
    )
    assert len(_evicted(plans)) == 2
    assert plans["high"].decision is Decision.ASSIGN


@BOTH
def test_nothing_goes_in_vain(make, max_pairs) -> None:
    """Ten executors of a core each have no room on two hosts of four cores, whoever goes."""
    low = _running(make, "low", (0,) * 4, priority=20)
    plans, _ = strict(max_pairs, evict=True)(cluster(make, low, topology(make, "high", 10, priority=1)))
    assert _evicted(plans) == {}
    assert plans["low"].decision is Decision.KEEP


@BOTH
def test_slots_are_reason_enough(make, max_pairs) -> None:
    low = _running(make, "low", (0,) * 2, priority=20, cpu=1.0)
    request = cluster(make, low, topology(make, "high", 2, priority=1), hosts=1, ports=(6700,))
    plans, _ = strict(max_pairs, evict=True)(request)
    assert _evicted(plans) == {"low": "high"}
    assert plans["high"].executor_port == (6700, 6700)


@BOTH
def test_what_a_topology_leaves_in_the_same_round_is_not_taken(make, max_pairs) -> None:
    """The shim frees slots of evicted topologies only: "mover" leaves its slot for its pin."""
    pin = '{"topology.stormplace.pin": {"c0": "host:h1", "c1": "host:h1"}}'
    mover = _running(make, "mover", (0,) * 2, priority=0, settings_json=pin)
    low = _running(make, "low", (0,) * 2, 6701, priority=20)
    high = topology(make, "high", 2, priority=1, settings_json='{"topology.stormplace.avoid": "host:h1"}')
    plans, _ = strict(max_pairs, evict=True)(cluster(make, mover, low, high))
    assert _evicted(plans) == {"low": "high"}
    assert plans["high"].executor_port == (6701, 6701)


@BOTH
def test_a_topology_that_was_to_be_placed_in_this_round_gives_way_without_eviction(make, max_pairs) -> None:
    """It fits where "high" does not, but takes a slot that "high" needs."""
    low = _running(make, "low", (0,) * 3, priority=20)
    new = topology(make, "new", 1, priority=30)
    request = cluster(make, low, new, topology(make, "high", priority=1), hosts=1)
    plans, _ = strict(max_pairs, evict=True)(request)
    assert _evicted(plans) == {"low": "high"}
    assert plans["new"].decision is Decision.UNPLACEABLE
    assert plans["new"].status == "not placed: gave way to high, whose priority is 1, not 30"


@BOTH
def test_a_guarantee_evicts_what_none_covers_and_protects(make, max_pairs) -> None:
    """Bob's running topology has priority 0, but Ann's guarantee covers hers; not the other way round."""
    pools = {"resource_aware_scheduler_user_pools": {"ann": {"cpu": 500, "memory": 100}}}
    bobs = _running(make, "bobs", (0,) * 4, owner="bob", priority=0)
    anns = topology(make, "anns", owner="ann", priority=20)
    plans, _ = strict(max_pairs, evict=True)(cluster(make, bobs, anns, hosts=1, **pools))
    assert _evicted(plans) == {"bobs": "anns"}
    assert plans["bobs"].status == "not placed: evicted for anns, which the guarantee of its user covers"
    bobs = topology(make, "bobs", owner="bob", priority=0)
    anns = _running(make, "anns", (0,) * 4, owner="ann", priority=20)
    plans, _ = strict(max_pairs, evict=True)(cluster(make, bobs, anns, hosts=1, **pools))
    assert _evicted(plans) == {}


@BOTH
def test_an_isolated_topology_gets_the_host_of_the_lowest(make, max_pairs) -> None:
    """Though fewer executors run on the other host."""
    one = _running(make, "one", (0,) * 4, priority=20)
    two = _running(make, "two", (1,) * 2, priority=10)
    high = topology(make, "high", priority=1)
    request = cluster(make, one, two, high, isolation_scheduler_machines={"high": 1}, ports=(6700,))
    plans, _ = strict(max_pairs, evict=True)(request)
    assert _evicted(plans) == {"one": "high"}
    assert hosts_of(request, plans["high"]) == {"h0"}
    assert "isolated on 1 host" in plans["high"].status


@BOTH
def test_a_shim_that_knows_no_evictions_gets_none(make, max_pairs) -> None:
    low = _running(make, "low", (0,) * 4, priority=20)
    request = cluster(make, low, topology(make, "high", priority=1), hosts=1)
    plans, _ = strict(max_pairs, evict=True)(replace(request, cluster_json=None))
    assert _evicted(plans) == {}
    assert plans["high"].decision is Decision.UNPLACEABLE


@BOTH
def test_without_time_nothing_is_evicted(make, max_pairs) -> None:
    low = _running(make, "low", (0,) * 4, priority=20)
    request = cluster(make, low, topology(make, "high", priority=1), hosts=1)
    _, done = strict(max_pairs)(request)
    asked = []
    late = with_evictions(request, done, PlanSettings(evict=True), asked.append, lambda: True)
    assert late.response == replace(done.response, hold_ms=None)
    assert late.timed_out
    assert asked == []
