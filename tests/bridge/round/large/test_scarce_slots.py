"""Where slots are scarce, a topology that Storm's own scheduler would place is placed in large rounds too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision
from scheduler.packing.placing import place_job

LARGE = Settings(plan=PlanSettings(max_pairs=1))
STRICT = Settings(plan=PlanSettings(max_pairs=1), capacity=CapacitySettings(resources="strict"))


def _topology(make, name="t", executors=30, **changes):
    """A chain of two components whose executors need 128 MB of heap each; six fill a worker of 768 MB."""
    fields = {
        "executor_cpu_percent": (1.0,) * executors,
        "executor_memory_mb": (128.0,) * executors,
        "component_heap_mb": (128.0, 128.0),
        "num_workers": 1,
        **changes,
    }
    return replace(make.chain(name, (executors // 2, executors - executors // 2), [0]), **fields)


def _cluster(make, *topologies, hosts=4, ports=(6700,), memory_mb=32000.0):
    supervisors = tuple(
        make.supervisor(f"h{each}", cpu_percent=400.0, memory_mb=memory_mb, ports=ports)
        for each in range(hosts)
    )
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=())


def _plan(request, settings=LARGE):
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    (plan,) = done.response.plans
    return plan


def _sizes(plan) -> list[int]:
    slots = Counter(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    return sorted(slots.values(), reverse=True)


def test_heap_gives_way_where_slots_are_too_few(make):
    """Thirty executors need five workers, and there are four slots."""
    plan = _plan(_cluster(make, _topology(make)))
    assert plan.decision is Decision.ASSIGN
    assert max(_sizes(plan)) <= 9
    assert "workers at up to 150% of their heap as there are too few slots" in plan.status


def test_heap_gives_way_to_nothing_under_strict_resources(make):
    plan = _plan(_cluster(make, _topology(make)), STRICT)
    assert plan.decision is Decision.UNPLACEABLE
    assert "it needs 5 workers, 4 slots are free" in plan.status


def _with_one_lost(make, executors=4, **changes):
    """The first executors run in one worker, the next ones in another; the last one has lost its worker."""
    half = executors // 2
    where = (*(0,) * half, *(1,) * (executors - half - 1), UNASSIGNED)
    ports = tuple(UNASSIGNED if each == UNASSIGNED else 6700 for each in where)
    return _topology(make, executors=executors, executor_supervisor=where, executor_port=ports, **changes)


@pytest.mark.parametrize("settings", [LARGE, STRICT])
def test_without_a_free_slot_lost_executors_join_the_worker_that_restarts_fewest(make, settings):
    topology = _with_one_lost(make, 6)
    plan = _plan(_cluster(make, topology, hosts=2), settings)
    assert plan.decision is Decision.ASSIGN
    assert plan.executor_supervisor == (0, 0, 0, 1, 1, 1)
    assert set(plan.executor_port) == {6700}
    assert plan.price is not None
    price = plan.price
    assert (price.executors_moved, price.workers_moved, price.executors_restarted) == (0, 1, 2)
    assert "restarts 2 executors, as no free slot has room" in plan.status


def test_a_free_slot_comes_before_joining(make):
    plan = _plan(_cluster(make, _with_one_lost(make), hosts=3))
    assert plan.executor_supervisor == (0, 0, 1, 2)
    assert plan.price is not None
    assert plan.price.executors_restarted == 0


def test_what_joins_keeps_the_heap_of_the_worker_if_another_has_room(make):
    """The smaller worker holds the larger executors."""
    topology = _with_one_lost(make, 6, component_heap_mb=(128.0, 300.0), executor_memory_mb=(128.0,) * 6)
    plan = _plan(_cluster(make, topology, hosts=2))
    assert plan.executor_supervisor == (0, 0, 0, 1, 1, 0)


def test_what_joins_goes_above_the_heap_where_no_worker_has_room(make):
    topology = _with_one_lost(make, 6, component_heap_mb=(300.0, 300.0), executor_memory_mb=(128.0,) * 6)
    plan = _plan(_cluster(make, topology, hosts=2))
    assert plan.decision is Decision.ASSIGN
    assert "workers at up to 117% of their heap" in plan.status
    assert _plan(_cluster(make, topology, hosts=2), STRICT).decision is Decision.UNPLACEABLE


def test_a_pin_is_kept_where_executors_join(make):
    """The smaller worker is at a place that is avoided."""
    topology = _with_one_lost(make, 6, settings_json='{"topology.stormplace.pin": {"c1": "host:h0"}}')
    running = tuple(0 if each == 1 else each for each in topology.executor_supervisor)
    ports = (6700, 6700, 6700, 6701, 6701, UNASSIGNED)
    topology = replace(topology, executor_supervisor=running, executor_port=ports)
    plan = _plan(_cluster(make, topology, hosts=2, ports=(6700, 6701)))
    assert plan.executor_supervisor == (0,) * 6
    assert plan.executor_port[-1] == 6701


@pytest.mark.parametrize(
    ("executors", "asked", "slots", "sizes"),
    [
        (6, 4, [1] * 6, [2, 2, 1, 1]),
        (7, 5, [3, 3], [2, 2, 1, 1, 1]),
        (6, 4, [1] * 3, [2, 2, 2]),
        (6, 9, [2] * 6, [1] * 6),
        (6, 9, [7], [1] * 6),
        (6, 90, [3, 3], [1] * 6),
        (6, 90, [3], [2, 2, 2]),
        (10, 3, [4], [4, 3, 3]),
    ],
)
def test_as_many_workers_as_asked_for_where_slots_allow(make, executors, asked, slots, sizes):
    topology = _topology(make, executors=executors, num_workers=asked)
    request = _cluster(make, topology, hosts=len(slots), ports=tuple(range(6700, 6700 + slots[0])))
    plan = _plan(request)
    assert _sizes(plan) == sizes
    assert ("were asked for" in plan.status) == (len(sizes) < min(asked, executors))


def test_a_hundred_executors_in_forty_workers(make):
    request = _cluster(make, _topology(make, executors=100, num_workers=40), hosts=20, ports=(6700, 6701))
    assert sorted(Counter(_sizes(_plan(request))).items()) == [(2, 20), (3, 20)]


def test_many_that_find_no_slot_are_refused_without_a_search(make, monkeypatch):
    """Otherwise their searches would use up the time of each round, and Storm would get all of them."""
    searched = []

    def counting(fleet, ledger, job, manner):
        searched.append(job)
        return place_job(fleet, ledger, job, manner)

    monkeypatch.setattr("scheduler.packing.pack.place_job", counting)
    running = replace(_topology(make, "a", 4), executor_supervisor=(0, 0, 1, 1), executor_port=(6700,) * 4)
    request = _cluster(make, running, *(_topology(make, f"b{each}", 4) for each in range(20)), hosts=2)
    plans = plan_round(request, LARGE, lambda: 0.0).response.plans
    assert Counter(plan.decision for plan in plans) == {Decision.KEEP: 1, Decision.UNPLACEABLE: 20}
    assert searched == []
