"""Memory that components share counts on hosts, in rounds of both scales."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, PlanSettings, Settings
from bridge.wire.messages import Decision

STRICT = CapacitySettings(resources="strict")
AT_ONCE = MoveSettings(cool_down_s=0, stabilisation_s=0)
SMALL = Settings(move=AT_ONCE, capacity=STRICT)
LARGE = Settings(move=AT_ONCE, capacity=STRICT, plan=PlanSettings(max_pairs=1))
SCALES = pytest.mark.parametrize("settings", [SMALL, LARGE], ids=["small", "large"])


def _topology(make, name="t", shared_mb=(0.0, 0.0, 0.0), users=(0,)):
    """Two components of two executors of 100 MB; some of them share one piece of memory."""
    topology = make.chain(name, [2, 2], [0])
    return replace(
        topology,
        num_workers=1,
        executor_memory_mb=(100.0,) * 4,
        component_heap_mb=(100.0, 100.0),
        shared_component=users,
        shared_piece=(0,) * len(users),
        shared_mb=shared_mb,
    )


def _plan(make, settings, *topologies, hosts=1, memory_mb=1000.0):
    meta = {"stormplace.executors": "99"}
    supervisors = tuple(
        make.supervisor(f"h{number}", meta=meta, memory_mb=memory_mb, ports=(6700, 6701, 6702))
        for number in range(hosts)
    )
    request = replace(make.cluster(*topologies), supervisors=supervisors, readings=())
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    return done.response.plans


@SCALES
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("users", [(0,), (0, 1)])
def test_it_counts_once_for_all_that_use_it(make, settings, position, users):
    """400 MB for executors leave 600 MB: as much fits, more does not."""
    for shared, decision in ((600.0, Decision.ASSIGN), (601.0, Decision.UNPLACEABLE)):
        amounts = tuple(shared if place == position else 0.0 for place in range(3))
        heap = '{"topology.worker.max.heap.size.mb": 4096}'
        topology = replace(_topology(make, shared_mb=amounts, users=users), storm_json=heap)
        (plan,) = _plan(make, settings, topology)
        assert plan.decision is decision
        assert decision is Decision.ASSIGN or "memory" in plan.status


@SCALES
def test_that_of_running_topologies_counts(make, settings):
    """Two workers of a topology that runs share 200 MB each, and 100 MB on the host: 900 MB are taken."""
    running = make.assigned(
        _topology(make, "a", (150.0, 50.0, 100.0), (0, 1)), [0] * 4, [6700, 6701, 6700, 6701]
    )
    other = replace(_topology(make, "b"), shared_component=None, shared_piece=None, shared_mb=None)
    decisions = {
        memory_mb: _plan(make, settings, running, other, memory_mb=memory_mb)[1].decision
        for memory_mb in (1300.0, 1299.0)
    }
    assert decisions == {1300.0: Decision.ASSIGN, 1299.0: Decision.UNPLACEABLE}


@SCALES
def test_above_what_is_declared_is_named(make, settings):
    soft = settings.model_copy(update={"capacity": CapacitySettings()})
    (plan,) = _plan(make, soft, _topology(make, shared_mb=(0.0, 0.0, 800.0)))
    assert plan.decision is Decision.ASSIGN
    assert "above what is declared as it fits no other way (h0 at 120% of its memory" in plan.status
