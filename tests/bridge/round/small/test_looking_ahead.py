"""Moves for gains by the hours to come: what lasts too short a time stays, what pays in time moves."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.memory import Memory, TopologyMemory, Watched
from bridge.round.small import looking_ahead
from bridge.wire.messages import Decision, Drain
from formats.drain import content_of
from scheduler.moving.rolling import look_ahead
from tests.bridge.round.moving.priced_rounds import LOADS, PRICES, market, planned, rates, round_of

HOURS = 6.0
FAST = {"stormplace.speedup": "4"}
# Each tuple takes 100 ms on `cheap`, where 5 a second wait for 50 ms on average, and 9 a second for 450 ms.
LIMITED = {"weights": {"cost": 1.0}, "duration.max.ms": {"c1": 300}}


def busy(hours_ahead, rate=5.0):
    """Rates of a chain whose second component takes 100 ms on a host of ordinary speed."""
    reading = rates([1.0, 25.0], rate)
    fields = json.loads(reading.payload) | {"time": 7200.0, "hours_ahead": hours_ahead}
    return replace(reading, payload=json.dumps(fields).encode())


def on_dear(make, hours_ahead, settings=LIMITED):
    """The slow component runs on the fast and dear host, as after a busy hour; now the cheap one would do."""
    meta = {"dear": {"stormplace.cost": PRICES["dear"], **LOADS, **FAST}}
    request = market(make, settings, ("cheap", "dear"), [6700, 6700], **meta)
    return replace(request, readings=(*request.readings, busy(hours_ahead)))


def test_a_lull_is_no_reason_to_move(make):
    """In an hour the cheap host would be too slow again; without looking ahead it is moved to at once."""
    request = on_dear(make, [1.8] * 8)
    assert planned(request)[0][1] == "cheap"
    where, plan = planned(request, look_ahead_hours=HOURS)
    assert where == ("cheap", "dear")
    assert plan.status.startswith("kept: no change pays over the next 6 h (move.look_ahead_hours)")


def test_a_night_is(make):
    """It pays for the change, which the status says."""
    where, plan = planned(on_dear(make, [0.5] * 8), look_ahead_hours=HOURS)
    assert where[1] == "cheap"
    assert " over the next 6 h (move.look_ahead_hours)" in plan.status
    assert plan.decision is Decision.ASSIGN


def test_the_next_round_moves_nothing(make):
    """By the same forecast; nor does one in which the forecast is gone."""
    request = on_dear(make, [0.5] * 8)
    done = round_of(request, look_ahead_hours=HOURS)
    following = make.carried_out(request, done.response)
    again = round_of(following, look_ahead_hours=HOURS)
    assert [each.decision for each in again.response.plans] == [Decision.KEEP]


@pytest.mark.parametrize("hours_ahead", [[None] * 8, [1.0] * 8, []])
def test_where_nothing_is_known_the_present_counts(make, hours_ahead):
    """The plan is the same to the last word as that of a daemon that does not look ahead."""
    request = on_dear(make, hours_ahead)
    assert planned(request, look_ahead_hours=HOURS) == planned(request)


def test_where_rates_make_no_difference_nothing_is_looked_at(make):
    """Cost alone does not follow rates."""
    request = on_dear(make, [1.8] * 8, {"weights": {"cost": 1.0}})
    assert planned(request, look_ahead_hours=HOURS) == planned(request)


def test_a_host_that_leaves_is_not_moved_to(make):
    """The drain is announced for a time at which it does not count yet without looking ahead."""
    request = market(make, {"weights": {"cost": 1.0}})
    away = replace(
        request,
        drains=tuple(Drain(f"host:{host}", content_of(None, 4000.0), 0) for host in ("cheap", "far")),
    )
    assert planned(away)[0] == ("cheap", "cheap")
    where, plan = planned(away, look_ahead_hours=HOURS)
    assert where == ("dear", "dear")
    assert "no change pays over the next 6 h" in plan.status


def test_a_gain_waits_while_it_is_looked_at(make):
    """The placement that is watched is held on to until it has been seen for long enough."""
    request = on_dear(make, [0.5] * 8)
    waits = {"look_ahead_hours": HOURS, "stabilisation_s": 30.0}
    first = round_of(request, **waits)
    assert "a gain waits until it has been seen for 30 s" in first.response.plans[0].status
    last = round_of(request, memory=first.memory, now_s=31.0, **waits)
    assert last.response.plans[0].decision is Decision.ASSIGN


def test_of_two_that_pay_the_watched_one_is_held_on_to(make):
    """Or noise, which makes now one and now the other a little better, would keep both waiting for ever."""
    request = on_dear(make, [0.5] * 8)
    best, _ = planned(request, look_ahead_hours=HOURS)
    other = ("cheap", "far" if best[1] == "cheap" else "cheap")
    seen = Memory((TopologyMemory("t", None, Watched(other, 0.0)),))
    waits = {"look_ahead_hours": HOURS, "stabilisation_s": 30.0}
    plan = round_of(request, memory=seen, now_s=31.0, **waits).response.plans[0]
    assert plan.decision is Decision.ASSIGN
    assert tuple(request.supervisors[index].host for index in plan.executor_supervisor) == other


def test_it_is_off_unless_it_is_set(make):
    request = on_dear(make, [1.8] * 8)
    assert planned(request) == planned(request, look_ahead_hours=0.0)


def test_without_time_for_all_hours_the_present_counts(make, monkeypatch):
    """A topology that is too large to be looked at in its time must not stay for that."""
    request = on_dear(make, [1.8] * 8)
    monkeypatch.setattr(
        looking_ahead, "look_ahead", lambda *args, **more: replace(look_ahead(*args, **more), settled=False)
    )
    assert planned(request, look_ahead_hours=HOURS) == planned(request)
