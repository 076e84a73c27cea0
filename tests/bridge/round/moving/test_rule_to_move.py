"""A topology moves for what its own rule lets pass, and always where it breaks its own limits."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.freeze_windows import FreezeWindow
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.round.preview import Change, preview
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision, Grouping
from scheduler.contract.children import INLINE
from tests.bridge.round.moving.priced_rounds import AT_ONCE, PRICES, market, planned, rates, round_of
from tests.bridge.round.planner_rounds import stopped

COST = {"weights": {"cost": 1.0}}
# 2,000 units to load 20 GB at the cheap host, which saves 18 a second: 111 s.
HEAVY = COST | {"image.mb": 20_000}
SLOW = {"duration.max.ms": {"c1": 100}}
MONDAY_NOON = 1_795_435_200.0
WORKING_HOURS = (FreezeWindow(days=("mon",), begin="08:00", end="18:00"),)


@pytest.mark.parametrize(
    ("settings", "move", "key"),
    [
        ({"replan.horizon.secs": 100}, {}, "replan.horizon.secs"),
        ({}, {"horizon_s": 100}, "move.horizon_s"),
        ({"replan.horizon.secs": 100}, {"horizon_s": 200}, "replan.horizon.secs"),
    ],
)
def test_a_move_pays_its_price_within_the_horizon(make, settings, move, key):
    """The topology's own counts, else the daemon's; the status says by how much it is too late."""
    where, plan = planned(market(make, HEAVY | settings), **move)
    late = "the best candidate pays its price after about 125 s, not within 100 s"
    assert where == ("dear", "dear")
    assert plan.status.startswith(f"kept: {late} ({key}) (ils (auto)); ")
    own, daemons = dict.fromkeys(settings, 112), dict.fromkeys(move, 112)
    assert planned(market(make, HEAVY | own), **daemons)[0] == ("cheap", "cheap")


def test_by_default_an_hour_has_to_pay_for_a_move(make):
    assert planned(market(make, HEAVY))[0] == ("cheap", "cheap")
    assert planned(market(make, COST | {"image.mb": 700_000}))[0] == ("dear", "dear")


@pytest.mark.parametrize("weights", [{"cost": 1.0}, {"response_time": 1.0}])
def test_an_own_least_gain_takes_the_place_of_the_daemons(make, weights):
    """In F, also where response times are all that is weighed."""
    request = market(make, {"weights": weights, "replan.gain.min": 0}, ("dear", "far"))
    assert planned(request, min_gain=1.0, min_gain_ms=60_000)[1].decision is Decision.ASSIGN
    high = market(make, {"weights": weights, "replan.gain.min": 0.99}, ("dear", "far"))
    plan = planned(high, min_gain=0.0, min_gain_ms=0.0)[1]
    assert plan.decision is Decision.KEEP
    reasons = ("no placement can gain enough", "no candidate gains 0.99 of F (replan.gain.min)")
    assert plan.status.startswith(tuple(f"kept: {reason}" for reason in reasons))


def test_pinned_executors_move_only_where_they_have_to(make):
    """For no gain, but for a pin; and what is missing is placed."""
    pinned = COST | {"replan.persistence": "pin"}
    where, plan = planned(market(make, pinned))
    assert where == ("dear", "dear")
    assert plan.status.startswith("kept: only what has to move does (replan.persistence); ")
    assert planned(market(make, pinned | {"pin": {"c1": "host:cheap"}}))[0] == ("dear", "cheap")
    assert planned(market(make, pinned, ("dear", None), ports=(6700, -1)))[1].decision is Decision.ASSIGN


class Rounds:
    """Rounds one after the other, on what becomes of the market."""

    def __init__(self, make, request, **move):
        self.make, self.request, self.move, self.memory = make, request, move, NOTHING

    def at(self, now_s, request=None):
        self.request = request or self.request
        done = round_of(self.request, memory=self.memory, now_s=now_s, **self.move)
        self.memory, self.request = done.memory, self.make.carried_out(self.request, done.response)
        return done.response.plans[0]


def cheaper(make, settings, where=("dear", "dear")):
    """The market when only the far host is cheap, and then not."""
    alike = {name: {"stormplace.cost": "10"} for name in PRICES}
    return market(make, settings, where, **alike), market(make, settings, where)


def test_gains_are_looked_for_once_in_an_interval(make):
    """Prices fall after the first look: until the second one is due the reason stays."""
    before, after = cheaper(make, COST | {"replan.interval.secs": 60})
    rounds = Rounds(make, before)
    first = rounds.at(0.0)
    reason = "kept: no candidate is better (ils (auto)); "
    assert first.status.startswith(reason)
    assert all(rounds.at(now_s, after).status.startswith(reason) for now_s in (10.0, 59.0))
    assert rounds.at(60.0).decision is Decision.ASSIGN
    assert rounds.at(119.0, dearer(rounds.request, "cheap")).decision is Decision.KEEP
    assert rounds.at(120.0).decision is Decision.ASSIGN


def dearer(request, host):
    """A request where one host costs ten times as much as any other."""
    price = {each.host: "10" if each.host == host else "1" for each in request.supervisors}
    supervisors = (
        replace(each, meta=each.meta | {"stormplace.cost": price[each.host]}) for each in request.supervisors
    )
    return replace(request, supervisors=tuple(supervisors))


@pytest.mark.parametrize("event", ["host", "settings"])
def test_an_event_is_looked_at_at_once(make, event):
    """A host that joins or comes back, and other settings."""
    before, after = cheaper(make, COST | {"replan.interval.secs": 60})
    if event == "host":
        dead = replace(before.supervisors[2], alive=False)
        before = replace(before, supervisors=(*before.supervisors[:2], dead))
    else:
        after = cheaper(make, COST | {"replan.interval.secs": 61})[1]
    rounds = Rounds(make, before)
    rounds.at(0.0)
    assert rounds.at(10.0, after).decision is Decision.ASSIGN


def test_a_gain_that_is_seen_is_watched_in_each_round(make):
    """Until it has been seen for long enough, whatever the interval."""
    rounds = Rounds(make, market(make, COST | {"replan.interval.secs": 600}), stabilisation_s=20)
    statuses = [rounds.at(now_s).status for now_s in (0.0, 10.0)]
    assert all("a gain waits until it has been seen for 20 s" in status for status in statuses)
    assert rounds.at(20.0).decision is Decision.ASSIGN


@pytest.mark.parametrize(("move", "free_s"), [({}, 50.0), ({"cool_down_s": 80}, 80.0)])
def test_the_longer_cool_down_counts(make, move, free_s):
    """The topology's beside the daemon's."""
    rounds = Rounds(make, market(make, COST | {"replan.cooldown.secs": 50}), **move)
    assert rounds.at(0.0).decision is Decision.ASSIGN
    waits = rounds.at(free_s - 1, dearer(rounds.request, "cheap"))
    assert f"a gain waits until {free_s:g} s after the last change" in waits.status
    assert rounds.at(free_s).decision is Decision.ASSIGN


@pytest.mark.parametrize(
    ("limit", "ports", "excess"),
    [
        ("replan.moves.max", 6700, "moves more executors than the 0 that may move in a round"),
        ("replan.workers.max", (6700, 6701), "restarts more workers than the 0 that may restart in a round"),
    ],
)
def test_a_larger_change_comes_in_rounds_of_so_many_executors_or_workers(make, limit, ports, excess):
    """One after the other; with none nothing moves, and the status says which limit that is."""
    rounds = Rounds(make, market(make, COST | {limit: 1}, ports=ports))
    first, second = rounds.at(0.0), rounds.at(10.0)
    assert [plan.price.executors_moved for plan in (first, second)] == [1, 1]
    assert "one of 100 % takes 1 more round" in first.status
    assert rounds.at(20.0).decision is Decision.KEEP
    none = planned(market(make, COST | {limit: 0}, ports=ports))[1]
    assert none.status.startswith(f"kept: best candidate gains enough but {excess} ({limit}), and no 8 ")


def busy(make, settings, where, *, fast=("cheap",), **meta):
    """The market where a tuple takes the second executor 100 ms at 8 a second: 300 ms with waiting, and 66 ms
    on a host of twice the speed."""
    meta = {name: {"stormplace.speedup": "2", "stormplace.executors": "1"} for name in fast} | meta
    request = market(make, settings, where, **meta)
    times = [1.0, 50.0 if where[1] in fast else 100.0]
    return replace(request, readings=(*request.readings, rates(times, rate=8.0)))


def test_what_takes_longer_than_it_may_moves_whatever_that_gains(make):
    """From the same host to a distant one: the response time gets worse for it."""
    request = busy(make, SLOW, ("dear", "dear"), fast=("far",))
    where, plan = planned(request)
    assert where == ("dear", "far")
    assert "; by ils (auto) as duration.max.ms of c1 is exceeded: " in plan.status
    assert plan.price.gain < 0
    assert planned(make.carried_out(request, round_of(request).response))[1].decision is Decision.KEEP


@pytest.mark.parametrize(
    ("settings", "moves"),
    [
        ({"replan.persistence": "pin"}, True),
        ({"replan.interval.secs": 600}, True),
        ({"replan.gain.min": 1}, True),
        ({"frozen": True}, False),
        ({"replan.moves.max": "two"}, False),
    ],
)
def test_a_broken_limit_comes_before_rules_for_gains(make, settings, moves):
    """But not before what holds a topology, or cannot be read."""
    request = busy(make, SLOW | settings, ("dear", "dear"))
    assert planned(request)[0] == (("dear", "cheap") if moves else ("dear", "dear"))


def test_a_broken_limit_is_mended_in_a_freeze_window_and_waits_like_a_gain(make):
    """A reading that is wrong once moves nothing."""
    request = busy(make, SLOW, ("dear", "dear"))
    frozen = Settings(move=MoveSettings(freeze=WORKING_HOURS, **AT_ONCE))
    done = plan_round(request, frozen, stopped, unix_s=MONDAY_NOON)
    assert done.moves == 1
    gain = market(make, COST | SLOW)
    held = plan_round(gain, frozen, stopped, unix_s=MONDAY_NOON).response.plans[0]
    assert held.status.startswith("kept: no moves for gains mon 08:00 to 18:00 UTC (move.freeze); ")
    waiting = planned(request, stabilisation_s=20)[1]
    why = "duration.max.ms of c1 is exceeded: a move waits until it has been seen for 20 s"
    assert waiting.status.startswith(f"kept: {why} (")


def test_what_stays_does_not_keep_others_from_their_limit(make):
    """Of two executors the one that runs takes too long, and the lost one finds a host where it does not."""
    topology = make.assigned(
        make.chain("t", [1, 2], [Grouping.SHUFFLE]), [1, 1, UNASSIGNED], [6700, 6700, UNASSIGNED]
    )
    request = busy(make, SLOW, ("dear", "dear"))
    topology = replace(topology, settings_json=request.topologies[0].settings_json)
    payload = json.loads(request.readings[-1].payload)
    listed = {"first_task": [1, 2, 3], "executed": [0.0, 8.0, 8.0], "emitted": [16.0, 0.0, 0.0]}
    payload["executors"] = {**listed, "execute_ms": [1.0, 100.0, None]}
    payload["streams"][0]["rate"] = payload["emitted"][0]["rate"] = 16.0
    reading = replace(request.readings[-1], payload=json.dumps(payload).encode())
    request = replace(request, topologies=(topology,), readings=(*request.readings[:-1], reading))
    plan = round_of(request, stabilisation_s=20).response.plans[0]
    assert [request.supervisors[index].host for index in plan.executor_supervisor] == [
        "dear",
        "dear",
        "cheap",
    ]
    assert "above duration.max.ms" not in plan.status


def test_a_limit_that_no_host_keeps_is_named(make):
    """And nothing moves for it."""
    request = busy(make, {"duration.max.ms": {"c1": 10}}, ("dear", "dear"))
    where, plan = planned(request)
    assert where == ("dear", "dear")
    why = "duration.max.ms of c1 is exceeded: no candidate within duration.max.ms"
    assert plan.status.startswith(f"kept: {why} (operator c1[2] would take 66.6667 ms ")


def test_a_limit_that_is_weighed_is_no_reason_to_move_but_part_of_a_gain(make):
    """The host that keeps it is far away: by the weight of what exceeds it, that pays or does not."""
    for weight, host in ((0.001, "dear"), (0.9, "far")):
        weights = {"weights": {"response_time": 1 - weight, "duration_excess": weight}}
        where, plan = planned(busy(make, SLOW | weights, ("dear", "dear"), fast=("far",)))
        assert where[1] == host
        assert "exceeded" not in plan.status
        assert plan.price is None or "duration_excess_ms" not in plan.price.metrics


def test_hosts_that_cost_more_than_their_budget_are_left(make):
    """Though response times get worse, and back they do not come."""
    pin = {"pin": {"c0": "host:dear"}}
    request = market(make, pin | {"budget.cost.per.sec": 11})
    where, plan = planned(request)
    assert where == ("dear", "cheap")
    assert "as budget.cost.per.sec is exceeded: " in plan.status
    following = make.carried_out(request, round_of(request).response)
    assert planned(following)[0] == where
    none = planned(market(make, pin | {"budget.cost.per.sec": 10}))[1]
    why = "budget.cost.per.sec is exceeded: no candidate within budget.cost.per.sec"
    assert none.status.startswith(f"kept: {why} (")


def test_a_look_takes_other_rules_for_stated(make):
    """`stormplace plan --what-if '{"replan.horizon.secs": 100}'` says what that would come to."""

    def next_round(**what_if):
        change = Change({f"topology.stormplace.{key}": value for key, value in what_if.items()}, ())
        answer = preview(
            market(make, HEAVY),
            "t",
            change,
            Settings(move=MoveSettings(**AT_ONCE)),
            stopped,
            memory=NOTHING,
            now_s=0.0,
            children=INLINE,
        )
        return answer["next_round"]

    assert next_round()["decision"] == "assign"
    late = next_round(**{"replan.horizon.secs": 100})
    assert (late["decision"], late["moves"]) == ("keep", [])
    assert "not within 100 s (replan.horizon.secs)" in late["status"]
    assert "only what has to move does" in next_round(**{"replan.persistence": "pin"})["status"]
