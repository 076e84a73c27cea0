"""In the round that moves a topology, what else there is to gain for it need not wait."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.problem.occupancy import RoundState
from bridge.round.memory import NOTHING, Memory, TopologyMemory, Watched
from bridge.round.planner import plan_round
from bridge.round.round_data import gather_data
from bridge.round.small.stability import Stability, Wait
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import stopped

SETTINGS = Settings(move=MoveSettings(max_restarts_per_round=1000))
# Hosts: 0-2 uniroma2, 3-4 europe-west1, 5-6 us-east1.
DISTANCES = {"europe-west1-1": 20.0, "europe-west1-2": 60.0, "us-east1-1": 200.0, "us-east1-2": 200.0}
SEEN_FIRST = "a gain waits until it has been seen for 30 s"
RUNNING, WATCHED, BETTER = (0, 5), (0, 4), (0, 3)


def chain(make, topology_id, hosts, port, **settings):
    """A chain of components with one executor each, running."""
    bare = make.chain(topology_id, [1] * len(hosts), [Grouping.SHUFFLE] * (len(hosts) - 1))
    keys = {f"topology.stormplace.{key}": value for key, value in settings.items()}
    return make.assigned(replace(bare, settings_json=json.dumps(keys)), hosts, port)


@pytest.fixture
def request_of_two(make):
    """Topology a could come nearer to its pin, nearest of all to where b is; b has better places too."""
    a = chain(make, "a", RUNNING, 6700, pin={"c0": "host:uniroma2-1"}, avoid={"c1": "site:uniroma2"})
    b = chain(make, "b", (3, 3, 6), 6701, pin={"c2": "host:us-east1-2"})
    request = make.cluster(a, b)
    readings = tuple(
        make.reading(each.host, None, DISTANCES.get(each.host, 0.0)) for each in request.supervisors
    )
    return replace(request, readings=readings)


@pytest.fixture
def state(request_of_two):
    return RoundState(request_of_two, gather_data(request_of_two, SETTINGS).hosts, "soft")


def names(state, hosts):
    return tuple(state.request.supervisors[host].host for host in hosts)


@pytest.fixture
def stability(state):
    """Half a minute after the gain of one placement of a was first seen."""
    memory = Memory((TopologyMemory("a", watched=Watched(names(state, WATCHED), 0.0)),))
    return Stability(state, SETTINGS.move, memory, 30.0)


def slots(hosts):
    return [(host, 6700) for host in hosts]


def test_a_topology_that_moves_takes_the_better_place_that_the_same_round_frees(request_of_two):
    """Both gains have been seen for their time; a moves first, and once more when b has left."""
    first = plan_round(request_of_two, SETTINGS, stopped, memory=NOTHING, now_s=0.0)
    then = plan_round(request_of_two, SETTINGS, stopped, memory=first.memory, now_s=30.0)
    assert [plan.decision for plan in first.response.plans] == [Decision.KEEP] * 2
    assert first.memory.topologies[0].watched.hosts == ("uniroma2-1", "europe-west1-2")
    assert [plan.decision for plan in then.response.plans] == [Decision.ASSIGN] * 2
    moved = then.response.plans[0]
    assert moved.executor_supervisor == BETTER
    # The price is that of the whole round: what ran took 206 ms, of which the first move alone saves 140.
    assert moved.price.gain == pytest.approx(180 / first.response.plans[0].response_time_ms)


def test_after_its_move_a_topology_waits_for_nothing_until_the_round_ends(state, stability):
    """It restarts anyway; from the next round on it cools down."""
    assert stability.why_wait(0, names(state, WATCHED), 0.5) == ""
    state.assign(0, slots(WATCHED))
    assert stability.why_wait(0, names(state, BETTER), 0.5) == ""
    state.assign(0, slots(BETTER))
    assert stability.memory().topologies[0].change.time_s == 30.0


def test_a_release_that_moved_nothing_releases_no_other_placement(state, stability):
    """The moves of the round were used up: without a restart another gain must be seen first."""
    assert stability.why_wait(0, names(state, WATCHED), 0.5) == ""
    assert stability.why_wait(0, names(state, BETTER), 0.5) == SEEN_FIRST
    assert stability.waits == {0: Wait(gain=0.5, seen_s=0.0, cooling_s=0.0)}


def test_a_release_is_one_topologys_alone(state, stability):
    """What the other one may gain has just been seen."""
    assert stability.why_wait(0, names(state, WATCHED), 0.5) == ""
    state.assign(0, slots(WATCHED))
    assert stability.why_wait(1, names(state, (5, 6, 6)), 0.5) == SEEN_FIRST
    assert stability.waits.keys() == {1}


def test_a_change_without_a_release_cools_down_within_the_round(state, stability):
    """An executor had to be placed: no reason to move the rest for a gain."""
    state.assign(0, slots(WATCHED))
    wait = stability.why_wait(0, names(state, BETTER), 0.5)
    assert wait == "a gain waits until 120 s after the last change"
    assert stability.waits == {0: Wait(gain=0.5, seen_s=0.0, cooling_s=120.0)}
