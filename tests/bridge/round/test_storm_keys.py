"""Keys of Storm's own in whole rounds, most of them planned by counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.settings import PlanSettings, Settings
from bridge.wire.messages import Decision

LARGE = Settings(plan=PlanSettings(max_pairs=1))


def _request(make, keys=None, *, resource_names=(), offered=(), **changes):
    topology = replace(
        make.chain("t", (2, 2), [0]),
        num_workers=1,
        storm_json=json.dumps({f"topology.{key}": value for key, value in (keys or {}).items()}),
        **changes,
    )
    supervisors = tuple(
        make.supervisor(f"h{number}", resources=(offered[number],) if offered else None)
        for number in range(4)
    )
    request = replace(make.cluster(topology), supervisors=supervisors, readings=())
    return replace(request, resource_names=resource_names)


def _plan(request, settings=LARGE):
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    return done.response.plans[0]


def _hosts(request, plan):
    return {request.supervisors[index].host for index in plan.executor_supervisor}


def test_a_worker_holds_one_component(make):
    request = _request(make, {"ras.one.component.per.worker": True})
    plan = _plan(request)
    slots = list(zip(plan.executor_supervisor, plan.executor_port, strict=True))
    assert not set(slots[:2]) & set(slots[2:])


@pytest.mark.parametrize(
    ("keys", "hosts"),
    [
        ({"scheduler.favored.nodes": ["h2"]}, {"h2"}),
        ({"scheduler.unfavored.nodes": ["h0", "h1", "h2"]}, {"h3"}),
        ({"scheduler.favored.nodes": ["nowhere"]}, {"h0"}),
    ],
)
def test_favored_hosts_are_filled_first_and_unfavored_last(make, keys, hosts):
    request = _request(make, keys)
    assert _hosts(request, _plan(request)) == hosts


@pytest.mark.parametrize("settings", [Settings(), LARGE], ids=["small", "large"])
@pytest.mark.parametrize("name", ["gpu", "executors", "memory_mb"])
def test_further_resources_are_never_exceeded(make, settings, name):
    """Two executors of c1 need a unit each; only h3 has two units, and soft resources do not stretch them."""
    shared = {"resource_names": (name,), "component_resources": (0.0, 1.0)}
    request = _request(make, offered=(0.0, 0.0, 0.0, 2.0), **shared)
    assert set(_plan(request, settings).executor_supervisor[2:]) == {3}
    short = _request(make, offered=(0.0, 0.0, 0.0, 1.0), **shared)
    plan = _plan(short, settings)
    assert plan.decision is Decision.UNPLACEABLE
    assert name in plan.status


@pytest.mark.parametrize("settings", [Settings(), LARGE], ids=["small", "large"])
def test_what_runs_takes_its_part_of_further_resources(make, settings):
    """A topology that runs has one of the two units of h3, and needs the other one."""
    shared = {"resource_names": ("gpu",), "component_resources": (0.0, 1.0)}
    request = _request(make, offered=(0.0, 0.0, 0.0, 2.0), **shared)
    (other,) = request.topologies
    running = make.assigned(replace(other, id="a"), [3, 3, 3, -1], [6700, 6700, 6700, -1])
    plans = plan_round(replace(request, topologies=(running, other)), settings, lambda: 0.0).response.plans
    assert [plan.decision for plan in plans] == [Decision.ASSIGN, Decision.UNPLACEABLE]
