"""Rounds that are planned by counts of components."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import chain, repeat

import pytest

from bridge.network_settings import NetworkSettings
from bridge.packing.dealing import deal
from bridge.round.planner import plan_round
from bridge.round.round_data import gather_data
from bridge.round.round_report import HOLD_MS
from bridge.round.scale import MOST_TOPOLOGIES, is_large
from bridge.settings import CapacitySettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision, PlanRequest

LARGE = Settings(plan=PlanSettings(max_pairs=1))


def _plan(request: PlanRequest, settings: Settings = LARGE, clock=lambda: 0.0):
    return plan_round(request, settings, clock)


def _request(make, *topologies, racks=2, per_rack=3, ports=4, **changes) -> PlanRequest:
    fields = {"cpu_percent": 400.0, "memory_mb": 4096.0, "ports": tuple(range(6700, 6700 + ports)), **changes}
    supervisors = tuple(
        replace(make.supervisor(f"h{rack}-{number}", **fields), rack=f"r{rack}")
        for rack in range(racks)
        for number in range(per_rack)
    )
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=())


def _with_demand(topology, cpu=10.0, memory=128.0, **changes):
    return replace(
        topology,
        executor_cpu_percent=(cpu,) * topology.n_executors,
        executor_memory_mb=(memory,) * topology.n_executors,
        component_heap_mb=(memory,) * len(topology.component_names),
        **changes,
    )


def _chain(make, name="t", parallelism=(2, 4, 2), **changes):
    topology = make.chain(name, parallelism, [0] * (len(parallelism) - 1))
    return _with_demand(topology, **{"num_workers": 1, **changes})


def test_a_round_is_large_by_missing_executors_or_by_hosts(make):
    request = _request(make, _chain(make))
    data = gather_data(request, Settings())
    assert not is_large(request, data, Settings())
    assert is_large(request, data, Settings(plan=PlanSettings(max_pairs=8 * 6 - 1)))
    assert not is_large(request, data, Settings(plan=PlanSettings(max_pairs=8 * 6)))
    assert is_large(request, data, Settings(network=NetworkSettings(max_hosts=5)))


def test_every_executor_gets_a_free_slot(make):
    request = _request(make, _chain(make, "a"), _chain(make, "b"))
    response = _plan(request).response
    assert [plan.decision for plan in response.plans] == [Decision.ASSIGN] * 2
    slots = [set(zip(plan.executor_supervisor, plan.executor_port, strict=True)) for plan in response.plans]
    assert not slots[0] & slots[1]
    assert all(port in request.supervisors[index].ports for index, port in slots[0] | slots[1])
    assert response.hold_ms is None
    assert "placed by packing (auto): 8 executors on 2 workers, 1 host, 1 rack" in response.plans[0].status


def test_planning_on_the_result_changes_nothing(make):
    request = _request(make, _chain(make, "a"), _chain(make, "b"))
    following = make.carried_out(request, _plan(request).response)
    settings = Settings(network=NetworkSettings(max_hosts=1))
    response = _plan(following, settings).response
    kept = (Decision.KEEP, "kept: runs completely")
    assert [(plan.decision, plan.status) for plan in response.plans] == [kept] * 2
    assert response.hold_ms == HOLD_MS


def test_a_strategy_that_was_asked_for_is_named_where_the_round_is_too_large_for_it(make):
    asked = _chain(make, settings_json=json.dumps({"topology.stormplace.strategy": "odp"}))
    (plan,) = _plan(_request(make, asked)).response.plans
    assert plan.status.startswith("placed by packing, as the round is large for odp: 8 executors")


def test_what_runs_is_neither_moved_nor_joined(make):
    """Two workers run; the third's executors go to a new one."""
    topology = _chain(make)
    slots = [(0, 6700)] * 3 + [(1, 6700)] * 3 + [(UNASSIGNED, UNASSIGNED)] * 2
    running = replace(
        topology,
        executor_supervisor=tuple(slot[0] for slot in slots),
        executor_port=tuple(slot[1] for slot in slots),
    )
    (plan,) = _plan(_request(make, running)).response.plans
    found = list(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    assert found[:6] == slots[:6]
    assert not set(found[6:]) & set(slots[:6])
    assert {index for index, _ in found[6:]} <= {0, 1}


def test_the_heap_of_a_worker_is_kept(make):
    heap = json.dumps({"topology.worker.max.heap.size.mb": 256})
    (plan,) = _plan(_request(make, _chain(make, storm_json=heap))).response.plans
    workers = Counter(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    assert set(workers.values()) == {2}


def test_as_many_workers_as_asked_for(make):
    (plan,) = _plan(_request(make, _chain(make, num_workers=4))).response.plans
    assert len(set(zip(plan.executor_supervisor, plan.executor_port, strict=True))) == 4


def test_fewer_workers_where_slots_do_not_allow_as_many(make):
    request = _request(make, _chain(make, num_workers=8), racks=1, ports=2)
    (plan,) = _plan(request).response.plans
    assert plan.decision is Decision.ASSIGN
    assert len(set(zip(plan.executor_supervisor, plan.executor_port, strict=True))) <= 6


def test_a_worker_per_executor_is_no_wish(make):
    one_each = json.dumps({"topology.ras.one.executor.per.worker": True})
    request = _request(make, _chain(make, storm_json=one_each), racks=1, ports=2)
    (plan,) = _plan(request).response.plans
    assert plan.status == "not placed: it needs 8 workers, 6 slots are free"


def test_priority_decides_where_there_is_not_room_for_all(make):
    strict = Settings(plan=PlanSettings(max_pairs=1), capacity=CapacitySettings(resources="strict"))
    wishes = {"a": 20, "b": 10, "c": 20}
    topologies = [
        _chain(make, name, cpu=250.0, storm_json=json.dumps({"topology.priority": priority}), launched_s=-at)
        for at, (name, priority) in enumerate(wishes.items())
    ]
    request = _request(make, *topologies, per_rack=8)
    plans = _plan(request, strict).response.plans
    assert [plan.decision for plan in plans] == [Decision.UNPLACEABLE, Decision.ASSIGN, Decision.ASSIGN]
    assert plans[0].status.startswith("not placed: an executor needs 250 of CPU, no host has more than")


def test_by_default_a_topology_is_placed_above_what_is_declared_and_says_so(make):
    request = _request(make, _chain(make, cpu=250.0), racks=1)
    (plan,) = _plan(request).response.plans
    assert plan.decision is Decision.ASSIGN
    assert "above what is declared as it fits no other way (h0-0 at " in plan.status
    assert "% of its CPU" in plan.status


def test_what_is_free_goes_near_a_pin_in_a_wide_area(make):
    """Three sites on a line; the pinned site takes half of the topology, the nearest one the rest."""
    pinned = _chain(
        make, parallelism=(4, 12), settings_json=json.dumps({"topology.stormplace.pin": {"c0": "site:s0"}})
    )
    sites = {f"h{number}": f"s{number // 2}" for number in range(6)}
    at = {"s0": 50.0, "s1": 0.0, "s2": 45.0}
    request = replace(
        make.cluster(pinned),
        supervisors=tuple(make.supervisor(host, cpu_percent=40.0, ports=(1, 2, 3)) for host in sites),
        readings=tuple(make.reading(host, site, at[site]) for host, site in sites.items()),
    )
    (plan,) = _plan(request).response.plans
    where = Counter(sites[request.supervisors[index].host] for index in plan.executor_supervisor)
    assert where == {"s0": 8, "s2": 8}
    assert "16 executors on" in plan.status
    assert "2 sites" in plan.status


def test_pins_are_kept_and_an_impossible_one_is_named(make):
    pinned = _chain(make, settings_json=json.dumps({"topology.stormplace.pin": {"c0": "host:h1-2"}}))
    lost = _chain(make, "u", settings_json=json.dumps({"topology.stormplace.pin": {"c0": "host:nowhere"}}))
    request = _request(make, pinned, lost)
    placed, refused = _plan(request).response.plans
    where = {request.supervisors[index].host for index in placed.executor_supervisor[:2]}
    assert where == {"h1-2"}
    assert refused.decision is Decision.UNPLACEABLE
    assert "c0 is pinned to host:nowhere, which is not in the cluster" in refused.status


def test_bad_keys_are_reported_and_the_topology_is_placed(make):
    odd = _chain(
        make, settings_json='{"topology.stormplace.sead": 1}', storm_json='{"topology.priority": -1}'
    )
    done = _plan(_request(make, odd))
    assert done.response.plans[0].decision is Decision.ASSIGN
    assert done.setting_faults == (
        ("t", ("topology.stormplace.sead: unknown key", "topology.priority: must be >= 0, got -1")),
    )


def test_what_is_not_finished_in_time_is_finished_in_the_next_round(make):
    """The clock leaves time for one topology; the other one waits, and Storm's scheduler does not get it."""
    request = replace(_request(make, _chain(make, "a"), _chain(make, "b")), deadline_ms=60_000)
    ticks = chain([0.0] * 5, repeat(1.0))
    first = _plan(request, clock=lambda: next(ticks))
    decisions = Counter(plan.decision for plan in first.response.plans)
    assert decisions == {Decision.ASSIGN: 1, Decision.UNPLACEABLE: 1}
    assert first.timed_out
    assert not first.left_out
    second = _plan(make.carried_out(request, first.response))
    assert {plan.decision for plan in second.response.plans} == {Decision.ASSIGN, Decision.KEEP}


def test_without_any_time_the_topologies_are_left_to_storm(make):
    done = _plan(replace(_request(make, _chain(make)), deadline_ms=0))
    assert done.response.plans == ()
    assert done.left_out == (("t", "no time left in this round"),)


def test_a_topology_whose_planning_fails_costs_only_itself(make, monkeypatch):
    """Storm's own scheduler gets it; the others have their plans."""

    def failing(topology, *rest):
        if topology.id == "a":
            raise ZeroDivisionError("no hope")
        return deal(topology, *rest)

    monkeypatch.setattr("bridge.round.by_counts.deal", failing)
    done = _plan(_request(make, _chain(make, "a"), _chain(make, "b")))
    assert [(plan.topology_id, plan.decision) for plan in done.response.plans] == [("b", Decision.ASSIGN)]
    assert done.left_out == (("a", "planning failed (ZeroDivisionError: no hope)"),)
    assert [(name, "no hope" in trace) for name, trace in done.traces] == [("a", True)]


def test_a_plan_that_fails_the_check_is_not_sent(make, monkeypatch):
    def doubling(topology, order, workers, ports):
        slots = deal(topology, order, workers, ports)
        return slots[:-1] if topology.id == "a" else slots

    monkeypatch.setattr("bridge.round.by_counts.deal", doubling)
    done = _plan(_request(make, _chain(make, "a"), _chain(make, "b")))
    assert [plan.topology_id for plan in done.response.plans] == ["b"]
    assert done.left_out == (("a", "planning failed (PlanCheckError: 7 slots for 8 executors)"),)


@pytest.mark.parametrize("changes", [{"cpu_percent": 0.0}, {"memory_mb": 0.0}])
def test_an_unknown_capacity_does_not_limit(make, changes):
    (plan,) = _plan(_request(make, _chain(make, cpu=900.0, memory=9000.0), racks=1, **changes)).response.plans
    assert plan.decision is Decision.ASSIGN


def test_a_round_of_very_many_topologies_is_large_whatever_their_executors(make):
    runs = make.assigned(make.chain("t", (1,), []), [0])
    many = [replace(runs, id=f"t{number}") for number in range(MOST_TOPOLOGIES + 1)]
    request = _request(make, *many)
    data = gather_data(request, Settings())
    assert is_large(request, data, Settings())
    assert not is_large(replace(request, topologies=tuple(many[1:])), data, Settings())
