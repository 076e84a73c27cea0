"""RAS constraints in whole rounds of both scales: hard in any case, and named where they cannot be met."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision

AT_ONCE = MoveSettings(cool_down_s=0, stabilisation_s=0)
SMALL = Settings(move=AT_ONCE)
LARGE = Settings(move=AT_ONCE, plan=PlanSettings(max_pairs=1))
SCALES = pytest.mark.parametrize("settings", [SMALL, LARGE], ids=["small", "large"])


def _request(make, parallelism=(2, 4), hosts=4, keys=None, settings_json="{}", **changes):
    topology = replace(
        make.chain("t", parallelism, [0] * (len(parallelism) - 1)),
        num_workers=1,
        storm_json=json.dumps(keys or {}),
        settings_json=settings_json,
    )
    roomy = {"meta": {"stormplace.executors": "9"}, **changes}
    supervisors = tuple(make.supervisor(f"h{number}", **roomy) for number in range(hosts))
    return replace(make.cluster(topology), supervisors=supervisors, readings=())


def _plan(request, settings):
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    return done, done.response.plans[0]


def _per_host(request, plan, component):
    """Executors of a component by supervisor."""
    (topology,) = request.topologies
    pairs = zip(plan.executor_supervisor, topology.executor_component, strict=True)
    return Counter(supervisor for supervisor, each in pairs if each == component)


def _limit(component="c1", most=1):
    return {"topology.ras.constraints": {component: {"maxNodeCoLocationCnt": most}}}


@SCALES
@pytest.mark.parametrize(
    ("keys", "most"), [(_limit(), 1), (_limit(most=2), 2), ({"topology.spread.components": ["c1"]}, 1)]
)
def test_a_node_gets_no_more_executors_of_a_component_than_it_may(make, settings, keys, most):
    """Without the limit one host takes all of them."""
    free = _request(make)
    assert max(_per_host(free, _plan(free, settings)[1], 1).values()) > most
    request = _request(make, keys=keys)
    _, plan = _plan(request, settings)
    assert plan.decision is Decision.ASSIGN
    assert max(_per_host(request, plan, 1).values()) <= most


@SCALES
def test_what_runs_on_a_node_counts(make, settings):
    """One executor runs on each of three hosts; the lost one goes to the fourth."""
    request = _request(make, parallelism=(1, 4), keys=_limit())
    running = make.assigned(request.topologies[0], [0, 0, 1, 2, UNASSIGNED], [6700] * 4 + [UNASSIGNED])
    request = replace(request, topologies=(running,))
    _, plan = _plan(request, settings)
    assert plan.executor_supervisor == (0, 0, 1, 2, 3)
    assert (plan.price.executors_moved, plan.price.executors_restarted) == (0, 0)


@SCALES
def test_what_runs_against_a_limit_stays(make, settings):
    """Both executors of c1 run on one host that may have one; only the lost c0 is placed."""
    request = _request(make, parallelism=(1, 2), keys=_limit())
    running = make.assigned(request.topologies[0], [UNASSIGNED, 1, 1], [UNASSIGNED, 6700, 6700])
    _, plan = _plan(replace(request, topologies=(running,)), settings)
    assert plan.decision is Decision.ASSIGN
    assert plan.executor_supervisor[1:] == (1, 1)


@SCALES
@pytest.mark.parametrize("resources", ["soft", "strict", "off"])
def test_a_limit_that_cannot_be_met_is_named(make, settings, resources):
    request = _request(make, parallelism=(1, 5), keys=_limit())
    strict = settings.model_copy(update={"capacity": CapacitySettings(resources=resources)})
    _, plan = _plan(request, strict)
    assert plan.decision is Decision.UNPLACEABLE
    assert plan.status.startswith("not placed: ")
    assert "c1" in plan.status
    assert "maxNodeCoLocationCnt" in plan.status


@SCALES
def test_a_pin_that_contradicts_a_limit_is_refused_with_the_limit(make, settings):
    pin = json.dumps({"topology.stormplace.pin": {"c1": "host:h0"}})
    request = _request(make, parallelism=(1, 2), keys=_limit(), settings_json=pin)
    _, plan = _plan(request, settings)
    assert plan.decision is Decision.UNPLACEABLE
    assert "maxNodeCoLocationCnt" in plan.status


@SCALES
def test_an_unknown_component_costs_its_own_constraint_only(make, settings):
    keys = {"topology.ras.constraints": {"x": {"maxNodeCoLocationCnt": 1}, "c1": {"maxNodeCoLocationCnt": 1}}}
    request = _request(make, keys=keys)
    done, plan = _plan(request, settings)
    fault = "topology.ras.constraints.x: the topology has no component 'x'"
    assert done.setting_faults == (("t", (fault,)),)
    assert f"setting ignored: {fault}" in plan.status
    assert max(_per_host(request, plan, 1).values()) == 1


@SCALES
def test_a_spread_component_is_spread_over_more_hosts_than_are_looked_at_otherwise(make, settings):
    few = settings.model_copy(update={"plan": settings.plan.model_copy(update={"max_hosts": 2})})
    request = _request(make, parallelism=(1, 4), keys=_limit())
    _, plan = _plan(request, few)
    assert plan.decision is Decision.ASSIGN


@SCALES
@pytest.mark.parametrize(
    "constraints",
    [{"c0": {"incompatibleComponents": ["c1"]}}, {"c0": {"incompatibleComponents": "c1"}}, [["c1", "c0"]]],
)
def test_components_that_are_apart_share_no_worker(make, settings, constraints):
    request = _request(make, keys={"topology.ras.constraints": constraints})
    _, plan = _plan(request, settings)
    workers: dict[tuple[int, int], set[int]] = {}
    slots = zip(plan.executor_supervisor, plan.executor_port, strict=True)
    for slot, component in zip(slots, request.topologies[0].executor_component, strict=True):
        workers.setdefault(slot, set()).add(component)
    assert all(len(held) == 1 for held in workers.values())


@SCALES
def test_too_few_slots_for_components_that_are_apart_are_named(make, settings):
    """Two of the three find a worker; without the constraint one worker takes all."""
    pairs = {"topology.ras.constraints": [["c0", "c1"], ["c0", "c2"], ["c1", "c2"]]}
    assert _plan(_request(make, parallelism=(1, 1, 1), hosts=1), settings)[1].decision is Decision.ASSIGN
    request = _request(make, parallelism=(1, 1, 1), hosts=1, keys=pairs)
    _, plan = _plan(request, settings)
    assert plan.decision is Decision.UNPLACEABLE
    assert "incompatibleComponents" in plan.status


@SCALES
def test_components_that_are_apart_go_to_other_hosts_where_slots_are_scarce(make, settings):
    """One slot on each host; streams between the two components would have them on one host."""
    keys = {"topology.ras.constraints": {"c0": {"incompatibleComponents": ["c1"]}}}
    request = _request(make, parallelism=(1, 1, 4), hosts=3, keys=keys, ports=(6700,))
    _, plan = _plan(request, settings)
    assert plan.decision is Decision.ASSIGN
    assert plan.executor_supervisor[0] != plan.executor_supervisor[1]


@SCALES
def test_a_rebalance_that_limits_a_component_moves_what_is_too_much(make, settings):
    """Both executors of c1 ran on one host; the first goes back there, the other one goes elsewhere."""
    request = _request(make, parallelism=(1, 2), keys=_limit())
    hidden = replace(request.topologies[0], last_supervisor=(0, 1, 1), last_port=(6700, 6700, 6700))
    _, plan = _plan(replace(request, topologies=(hidden,)), settings)
    assert plan.executor_supervisor[:2] == (0, 1)
    assert plan.executor_supervisor[2] != 1


@SCALES
def test_a_rebalance_that_separates_components_opens_another_worker(make, settings):
    keys = {"topology.ras.constraints": {"c0": {"incompatibleComponents": ["c1"]}}}
    request = _request(make, parallelism=(1, 2), keys=keys)
    hidden = replace(request.topologies[0], last_supervisor=(1, 1, 1), last_port=(6700, 6700, 6700))
    _, plan = _plan(replace(request, topologies=(hidden,)), settings)
    slots = list(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    assert slots[0] == (1, 6700)
    assert slots[0] not in slots[1:]
