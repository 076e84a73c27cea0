"""Lost executors restart no worker that runs, unless a stated gain pays or nothing else has room."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from bridge.settings import MoveSettings
from bridge.wire.messages import UNASSIGNED, Decision, Grouping
from tests.bridge.round.planner_rounds import AT_ONCE, hosts_of, only

LOST = UNASSIGNED
CHAIN = [Grouping.SHUFFLE] * 2


def three_of_which_one_is_lost(make, far_ms=100.0, free=("spare",), settings_json="{}"):
    """c0 runs on left and c1 on right, whose only slots they have; c2 is lost; spare is so far away."""
    topology = replace(make.chain("a", [1, 1, 1], CHAIN), settings_json=settings_json)
    running = make.assigned(topology, [0, 1, LOST], [6700, 6700, LOST])
    meta = {"stormplace.executors": "2"}
    hosts = ("left", "right", *free)
    request = make.cluster(running)
    return replace(
        request,
        supervisors=tuple(make.supervisor(host, meta=meta, ports=(6700,)) for host in hosts),
        readings=tuple(make.reading(host, None, far_ms * (host == "spare")) for host in hosts),
    )


def test_a_lost_executor_goes_to_a_free_slot_where_joining_gains_too_little(make):
    """Of 6 ms joining would save 2."""
    request = three_of_which_one_is_lost(make, far_ms=0.0)
    answer = only(request)
    assert hosts_of(request, answer) == ["left", "right", "spare"]
    assert (answer.price.workers_moved, answer.price.executors_restarted) == (0, 0)
    assert "restarts" not in answer.status


def test_a_stated_gain_pays_for_a_restart(make):
    """The only free slot is 100 ms away."""
    request = three_of_which_one_is_lost(make)
    answer = only(request)
    assert hosts_of(request, answer)[2] in {"left", "right"}
    assert (answer.price.workers_moved, answer.price.executors_restarted) == (1, 1)
    assert "placed by ils (auto), restarts 1 executor for a gain of 9" in answer.status


@pytest.mark.parametrize(
    "change",
    [
        {"move": AT_ONCE.model_copy(update={"min_gain": 1.0})},
        {"move": AT_ONCE.model_copy(update={"min_gain_ms": 1000.0})},
        {"move": AT_ONCE.model_copy(update={"max_restarts_per_round": 0})},
        {"move": AT_ONCE.model_copy(update={"max_restarts_per_site_per_hour": 0})},
        {"move": AT_ONCE.model_copy(update={"max_restarts_per_worker_per_hour": 0})},
        {"key": "frozen", "value": True},
        {"key": "replan.workers.max", "value": 0},
        {"key": "replan.persistence", "value": "pin"},
        {"live": False},
        {"known": False},
    ],
)
def test_a_gain_that_does_not_pay_restarts_nothing(make, change):
    """Below a threshold, beyond the cap, against the operator's word, not believed, or not known at all."""
    own = {f"topology.stormplace.{change['key']}": change["value"]} if "key" in change else {}
    request = three_of_which_one_is_lost(make, settings_json=json.dumps(own))
    request = replace(request, readings_live=change.get("live", True))
    if not change.get("known", True):
        request = replace(request, readings=())
    answer = only(request, move=change.get("move", AT_ONCE))
    assert hosts_of(request, answer) == ["left", "right", "spare"]
    assert answer.price.executors_restarted == 0


def test_where_nothing_else_has_room_workers_are_joined_whatever_the_cap(make):
    """A topology that stands still is worse than a restart."""
    request = three_of_which_one_is_lost(make, free=())
    answer = only(request, move=MoveSettings(max_restarts_per_round=0))
    assert answer.decision is Decision.ASSIGN
    assert answer.price.executors_restarted == 1
    assert "restarts 1 executor as no free slot has room" in answer.status


@pytest.mark.parametrize("avoided", [(), ("elsewhere",)])
def test_hosts_with_free_slots_take_more_than_their_share_before_a_worker_restarts(make, avoided):
    """Three of nine are lost; three are fair for each host, but left has only the slot of its worker."""
    avoid = {"topology.stormplace.avoid": {"*": [f"host:{host}" for host in avoided]}} if avoided else {}
    topology = make.assigned(
        make.chain("a", [9], []), [0, 0, 1, 1, 2, 2] + [LOST] * 3, [6700] * 6 + [LOST] * 3
    )
    topology = replace(topology, settings_json=json.dumps(avoid))
    ports = {
        "left": (6700,),
        "middle": (6700, 6701),
        "right": (6700, 6701),
        **dict.fromkeys(avoided, (6700,)),
    }
    supervisors = (make.supervisor(host, ports=each, cpu_percent=100.0) for host, each in ports.items())
    request = replace(make.cluster(topology), supervisors=tuple(supervisors))
    answer = only(request)
    assert Counter(hosts_of(request, answer))["left"] == 2
    assert Counter(hosts_of(request, answer)).keys() == {"left", "middle", "right"}
    assert max(Counter(hosts_of(request, answer)).values()) == 4
    assert answer.price.executors_restarted == 0
    assert "restarts" not in answer.status


def test_no_second_search_where_nothing_healthy_restarts(make, monkeypatch):
    """Both hosts have free slots."""
    request = three_of_which_one_is_lost(make)
    roomy = tuple(replace(each, ports=(6700, 6701)) for each in request.supervisors)
    asked = []
    monkeypatch.setattr(
        "bridge.round.small.joining._without_free_slot",
        lambda *_: asked.append(1) or pytest.fail("asked again"),
    )
    answer = only(replace(request, supervisors=roomy))
    assert answer.price.executors_restarted == 0
    assert not asked


def test_a_worker_that_restarts_anyway_is_joined(make):
    """c0 leaves the left worker for its pin, c1 stays in it: c2 joins c1 though spare is free, and near."""
    pin = '{"topology.stormplace.pin": {"c0": "host:right", "c2": "host:left"}}'
    request = three_of_which_one_is_lost(make, settings_json=pin)
    topology = make.assigned(request.topologies[0], [0, 0, LOST], [6700, 6700, LOST])
    request = replace(request, topologies=(topology,))
    answer = only(request)
    assert hosts_of(request, answer) == ["right", "left", "left"]
    assert answer.price.executors_restarted == 2
    assert ", restarts" not in answer.status


def test_executors_brought_home_spare_the_worker_there_too(make):
    """c0 goes to right, where c1 runs and a slot is free."""
    pin = '{"topology.stormplace.pin": {"c0": "host:right"}}'
    request = three_of_which_one_is_lost(make, settings_json=pin)
    topology = make.assigned(request.topologies[0], [2, 1, 1], 6700)
    roomy = tuple(
        replace(each, ports=(6700, 6701), meta={"stormplace.executors": "3"}) for each in request.supervisors
    )
    request = replace(request, topologies=(topology,), supervisors=roomy)
    answer = only(request, move=MoveSettings(min_gain=1.0))
    assert answer.executor_port == (6701, 6700, 6700)
    assert answer.price.executors_restarted == 1
