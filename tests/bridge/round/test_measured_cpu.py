"""Rounds go by measured CPU: hosts are not overfilled, noise moves nothing, status lines say what counted."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from bridge.settings import CapacitySettings, PlanSettings
from bridge.wire.messages import Decision, Reading, ReadingKind
from tests.bridge.round.planner_rounds import AT_ONCE, hosts_of, plan

SMALL, LARGE = PlanSettings(), PlanSettings(max_pairs=1)
SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])


def busy(name, **percent):
    """The rates of a topology with the time that its components spend in executions."""
    content = {
        "version": 1,
        "time": 1.0,
        "lifetime_s": 180.0,
        "topology": name,
        "window_s": 60.0,
        "sample_rate": 0.05,
        "streams": [],
        "emitted": [],
        "busy": [{"component": key, "percent": value} for key, value in percent.items()],
        "executors": None,
        "complete": True,
        "missing": [],
    }
    return Reading(ReadingKind.RATES, name, json.dumps(content).encode(), 1000)


def cluster(make, *topologies, readings=(), hosts=4):
    """Hosts of four cores that may carry sixteen executors each."""
    meta = {"stormplace.site": "rome", "stormplace.executors": "16"}
    supervisors = tuple(
        make.supervisor(f"h{number}", cpu_percent=400.0, memory_mb=1e5, meta=meta) for number in range(hosts)
    )
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=readings)


def bolts(make, name, number, cpu=10.0):
    """Bolts that all fit one host by what they declare."""
    made = make.chain(name, [number], [])
    return replace(made, executor_cpu_percent=(cpu,) * number, num_workers=1)


def most(request, answer):
    return max(Counter(hosts_of(request, answer)).values())


@SIZES
def test_what_is_measured_at_ninety_percent_is_not_packed_as_ten(make, size):
    """Eleven executors of 10 % fit one host; by what is measured a host carries four."""
    made = bolts(make, "t", 11)
    declared = cluster(make, made)
    (answer,) = plan(declared, plan=size).response.plans
    assert most(declared, answer) == 11
    measured = cluster(make, made, readings=(busy("t", c0=11 * 90.0),))
    (answer,) = plan(measured, plan=size).response.plans
    assert answer.decision is Decision.ASSIGN
    assert most(measured, answer) == 4
    assert "CPU as measured" in answer.status


@SIZES
def test_what_others_were_measured_to_need_is_not_given_away(make, size):
    """Four that run need the whole first host, whatever they declare."""
    running = make.assigned(bolts(make, "a", 4), [0] * 4)
    request = cluster(make, running, bolts(make, "b", 8), readings=(busy("a", c0=400.0),), hosts=2)
    answers = {each.topology_id: each for each in plan(request, plan=size).response.plans}
    assert answers["a"].decision is Decision.KEEP
    assert set(hosts_of(request, answers["b"])) == {"h1"}
    assert "CPU as declared" in answers["b"].status


@SIZES
def test_strict_resources_go_by_what_is_declared(make, size):
    """Eleven of 90 % would not fit two hosts; as a reservation they need 10 %."""
    request = cluster(make, bolts(make, "t", 11), readings=(busy("t", c0=11 * 90.0),), hosts=2)
    (answer,) = plan(request, plan=size, capacity=CapacitySettings(resources="strict")).response.plans
    assert answer.decision is Decision.ASSIGN
    assert "CPU as declared" in answer.status


@SIZES
def test_a_topology_that_needs_more_than_there_is_is_placed_all_the_same(make, size):
    request = cluster(make, bolts(make, "t", 11), readings=(busy("t", c0=11 * 90.0),), hosts=2)
    (answer,) = plan(request, plan=size).response.plans
    assert answer.decision is Decision.ASSIGN
    assert "of its CPU" in answer.status


@SIZES
def test_statistics_that_do_not_count_are_not_named(make, size):
    request = cluster(make, bolts(make, "t", 4), readings=(busy("t", c0=40.0),))
    (answer,) = plan(request, plan=size, capacity=CapacitySettings(resources="off")).response.plans
    assert "CPU" not in answer.status


@pytest.mark.parametrize("strategy", ["local-search", "greedy", "odp", "portfolio", "even"])
def test_an_executor_that_runs_stays_though_its_host_is_overfull(make, strategy):
    """Twelve at 90 % on a host of four cores, with empty hosts beside: whatever is near is no better."""
    weights = {"response_time": 0.5, "network_usage": 0.5}
    text = json.dumps({"topology.stormplace.strategy": strategy, "topology.stormplace.weights": weights})
    made = replace(make.assigned(make.chain("t", [4, 4, 4], [0, 0]), [0] * 12), settings_json=text)
    measured = busy("t", c0=360.0, c1=360.0, c2=360.0)
    rooms = tuple(make.reading(f"h{number}", "rome", float(number)) for number in range(4))
    done = plan(cluster(make, made, readings=(*rooms, measured)))
    assert done.traces == ()
    (answer,) = done.response.plans
    assert answer.decision is Decision.KEEP
    assert "no candidate is better" in answer.status


def test_noise_of_what_is_measured_moves_nothing(make):
    """Forty rounds around a border of what hosts carry: the same slots and one status line."""
    chance = random.Random(3)
    made = replace(make.chain("t", [2, 4, 2], [0, 0]), executor_cpu_percent=(10.0,) * 8, num_workers=1)
    rooms = tuple(make.reading(f"h{number}", "rome", 40.0 * number) for number in range(4))

    def readings():
        noise = [chance.uniform(0.9, 1.1) for _ in range(3)]
        return (*rooms, busy("t", c0=100.0 * noise[0], c1=200.0 * noise[1], c2=100.0 * noise[2]))

    request = cluster(make, made, readings=readings())
    following = make.carried_out(request, plan(request, move=AT_ONCE).response)
    statuses = set()
    for _ in range(40):
        (answer,) = plan(replace(following, readings=readings()), move=AT_ONCE).response.plans
        assert answer.decision is Decision.KEEP
        statuses.add(answer.status)
    assert len(statuses) == 1
