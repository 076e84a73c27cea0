"""A topology that never finds room keeps no other one from its pins and gains."""

from __future__ import annotations

import json
from dataclasses import replace

from bridge.network_settings import NetworkSettings
from bridge.round import large
from bridge.round.memory import NOTHING, Change, Memory, TopologyMemory, Watched, memory_from_json
from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, PlanSettings, Settings
from bridge.wire.encoding import encode_response
from bridge.wire.messages import UNASSIGNED, Decision
from tests.bridge.round.planner_rounds import AT_ONCE, GOOD, SCATTERED

N_HOSTS = 7
PIN = {"dataSource": "site:uniroma2"}
BROKEN = [5, *GOOD[1:]]


def _settings(*, move=AT_ONCE, **plan):
    return Settings(plan=PlanSettings(max_pairs=500, time_limit_ms=60_000, **plan), move=move)


def _huge(make, executors=120, **changes):
    """More executors of a worker each than there are slots."""
    one_each = json.dumps({"topology.ras.one.executor.per.worker": True})
    return replace(make.chain("huge", (executors,), []), **{"storm_json": one_each, **changes})


def _taxi(make, slots, ports=6700, **settings):
    return make.assigned(make.taxi(settings=settings), slots, ports)


def _plan(request, settings=None, clock=lambda: 0.0, **known):
    done = plan_round(request, settings or _settings(), clock, **known)
    assert done.traces == ()
    return done


def _by_id(done):
    return {plan.topology_id: plan for plan in done.response.plans}


def test_a_broken_pin_is_mended_beside_what_finds_no_room(make):
    """The plan of the one that runs is that which it gets alone."""
    alone = make.cluster(_taxi(make, BROKEN, pin=PIN))
    request = replace(alone, topologies=(_huge(make), *alone.topologies))
    done = _plan(request)
    plans = _by_id(done)
    assert list(plans) == ["huge", "taxi-1"]
    assert plans["huge"].decision is Decision.UNPLACEABLE
    assert plans["huge"].strategy == "packing"
    expected = _by_id(_plan(alone))["taxi-1"]
    assert plans["taxi-1"].decision is Decision.ASSIGN
    assert replace(plans["taxi-1"], status="") == replace(expected, status="")
    assert done.moves == expected.price.executors_moved > 0
    assert done.restarts == expected.price.executors_restarted


def test_gains_are_watched_beside_what_finds_no_room(make):
    """One is seen for half a minute, and then the topology moves and cools down."""
    settings = _settings(move=MoveSettings(stabilisation_s=30, cool_down_s=120))
    request = make.cluster(_taxi(make, SCATTERED), _huge(make))
    first = _plan(request, settings, now_s=1000.0)
    assert dict(first.waits)["taxi-1"].seen_s == 0.0
    assert "a gain waits until it has been seen for 30 s" in _by_id(first)["taxi-1"].status
    memory = memory_from_json(first.memory.to_json())
    second = _plan(request, settings, memory=memory, now_s=1040.0)
    assert _by_id(second)["taxi-1"].decision is Decision.ASSIGN
    (remembered,) = second.memory.topologies
    assert (remembered.id, remembered.change.time_s, remembered.watched) == ("taxi-1", 1040.0, None)
    assert second.memory.measured
    again = _plan(request, settings, memory=memory, now_s=1040.0)
    assert encode_response(again.response) == encode_response(second.response)
    assert again.memory == second.memory


def test_what_runs_of_a_topology_without_room_takes_its_room(make):
    """Both slots of all hosts at the pin's site are its own: the pin is not met."""
    running = ([0, 1, 2] * 2, [6700] * 3 + [6701] * 3)
    huge = _huge(make)
    partly = replace(
        huge,
        executor_supervisor=(*running[0], *huge.executor_supervisor[6:]),
        executor_port=(*running[1], *huge.executor_port[6:]),
    )
    request = make.cluster(_taxi(make, [3, 3, 4, 4, 5, 5, 6, 6], pin=PIN), partly)
    empty = replace(request, topologies=(request.topologies[0], huge))
    assert _by_id(_plan(empty))["taxi-1"].decision is Decision.ASSIGN
    plans = _by_id(_plan(request))
    assert plans["huge"].decision is Decision.UNPLACEABLE
    assert plans["taxi-1"].decision is Decision.KEEP
    assert plans["taxi-1"].status.startswith("kept (pin not met): ")


def test_nothing_is_remembered_of_what_finds_no_room(make):
    """Its slots are none that it may keep watching a gain for."""
    huge = _huge(make)
    partly = replace(
        huge,
        executor_supervisor=(6, *huge.executor_supervisor[1:]),
        executor_port=(6701, *huge.executor_port[1:]),
    )
    known = Memory((TopologyMemory("huge", None, Watched(("a",), 1.0)),), measured=True)
    request = make.cluster(_taxi(make, GOOD), partly)
    done = _plan(request, _settings(move=MoveSettings()), memory=known, now_s=10.0)
    assert "huge" not in {each.id for each in done.memory.topologies}


def test_bad_settings_of_both_are_named_once(make):
    bad = json.dumps({"topology.stormplace.colour": "red"})
    request = make.cluster(_taxi(make, GOOD, colour="red"), _huge(make, settings_json=bad))
    done = _plan(request)
    assert sorted(topology for topology, _ in done.setting_faults) == ["huge", "taxi-1"]


def test_the_round_is_held_where_nothing_that_runs_may_move(make):
    frozen = make.cluster(_taxi(make, BROKEN, pin=PIN, frozen=True), _huge(make))
    done = _plan(frozen)
    assert _by_id(done)["taxi-1"].status.startswith("kept: frozen")
    assert done.response.hold_ms is not None
    # What found no room finds none either while nothing changes.
    assert _plan(replace(frozen, topologies=(_huge(make),))).response.hold_ms is not None


def test_a_topology_whose_planning_fails_does_not_keep_others_from_their_pins(make, monkeypatch):
    """It is left to Storm's own scheduler in every round; the next one is not put off for it."""

    def failing(request, index, *_, **__):
        raise ZeroDivisionError(request.topologies[index].id)

    monkeypatch.setattr("bridge.round.large.order_of", failing)
    request = make.cluster(_taxi(make, BROKEN, pin=PIN), _huge(make))
    done = plan_round(request, _settings(), lambda: 0.0)
    (plan,) = done.response.plans
    assert (plan.topology_id, plan.decision) == ("taxi-1", Decision.ASSIGN)
    assert done.left_out == (("huge", "planning failed (ZeroDivisionError: huge)"),)
    assert [topology for topology, _ in done.traces] == ["huge"]
    frozen = make.cluster(_taxi(make, BROKEN, pin=PIN, frozen=True), _huge(make))
    assert plan_round(frozen, _settings(), lambda: 0.0).response.hold_ms is None


def test_a_round_that_places_something_moves_nothing_else(make):
    """What it takes is not known to a second planning: the next round is early enough."""
    request = make.cluster(_taxi(make, BROKEN, pin=PIN), make.chain("new", (100,), []))
    off = CapacitySettings(resources="off")
    bare = replace(
        request,
        supervisors=tuple(replace(each, meta={}, ports=(6700, 6701)) for each in request.supervisors),
    )
    plans = _by_id(_plan(bare, _settings().model_copy(update={"capacity": off})))
    assert plans["new"].decision is Decision.ASSIGN
    assert plans["taxi-1"].status == "kept: runs completely"


def test_no_time_for_it_is_noted(make, monkeypatch):
    """A record says that its repetition may come to another plan."""
    request = make.cluster(_taxi(make, BROKEN, pin=PIN), _huge(make))
    now = [0.0]

    def slow(*arguments):
        done = genuine(*arguments)
        now[0] = 3600.0
        return done

    genuine = large.plan_large_round
    monkeypatch.setattr("bridge.round.planner.plan_large_round", slow)
    done = _plan(request, clock=lambda: now[0])
    assert _by_id(done)["taxi-1"].status == "kept: runs completely"
    assert done.timed_out


def test_a_cluster_of_too_many_hosts_is_left_to_counts(make):
    settings = _settings().model_copy(update={"network": NetworkSettings(max_hosts=N_HOSTS - 1)})
    done = _plan(make.cluster(_taxi(make, SCATTERED), _huge(make)), settings)
    assert _by_id(done)["taxi-1"].status == "kept: runs completely"
    assert not done.timed_out


def test_hosts_that_a_topology_without_room_has_for_itself_stay_its_own(make):
    """The taxi query would move to its pin's site, all hosts of which are kept for the other one."""
    isolated = json.dumps({"isolation.scheduler.machines": {"huge": N_HOSTS}})
    shared = make.cluster(_taxi(make, BROKEN, pin=PIN), _huge(make))
    assert _by_id(_plan(shared))["taxi-1"].decision is Decision.ASSIGN
    request = replace(shared, cluster_json=isolated)
    plans = _by_id(_plan(request))
    assert plans["huge"].decision is Decision.UNPLACEABLE
    assert plans["taxi-1"].decision is Decision.KEEP


def test_an_eviction_comes_before_gains(make):
    """The lower one goes for the one without room; what else is to gain waits for the next round."""
    storm = {"topology.ras.one.executor.per.worker": True, "topology.priority": 1}
    high = _huge(make, 14, storm_json=json.dumps(storm))
    low = make.assigned(make.taxi("low"), SCATTERED)
    request = replace(make.cluster(low, high), cluster_json="{}")
    settings = Settings(plan=PlanSettings(max_pairs=50, evict=True), move=AT_ONCE)
    plans = _by_id(_plan(request, settings))
    assert plans["low"].evicted_for == "huge"
    assert plans["huge"].decision is Decision.ASSIGN
    without = settings.model_copy(update={"plan": PlanSettings(max_pairs=50)})
    plans = _by_id(_plan(request, without))
    assert (plans["huge"].decision, plans["low"].decision) == (Decision.UNPLACEABLE, Decision.ASSIGN)


def test_a_topology_that_is_rebalanced_beside_it_gets_its_slots_back(make):
    """Nimbus hides what runs for one round."""
    runs = _taxi(make, GOOD)
    hidden = replace(
        runs,
        executor_supervisor=(UNASSIGNED,) * 8,
        executor_port=(UNASSIGNED,) * 8,
        last_supervisor=runs.executor_supervisor,
        last_port=runs.executor_port,
        status="REBALANCING",
    )
    plan = _by_id(_plan(make.cluster(hidden, _huge(make))))["taxi-1"]
    assert plan.decision is Decision.ASSIGN
    assert plan.executor_supervisor == tuple(GOOD)
    assert plan.status.startswith("back in its last slots; kept: being rebalanced")


def test_a_gain_is_seen_anew_after_a_round_that_looked_for_none(make):
    """A round that placed something lies between: the gain may have come and gone."""
    settings = _settings(move=MoveSettings(stabilisation_s=30, cool_down_s=0))
    runs = make.cluster(_taxi(make, SCATTERED))
    bare = replace(
        runs,
        supervisors=tuple(
            replace(each, meta=each.meta | {"stormplace.executors": "40"}) for each in runs.supervisors
        ),
    )
    first = _plan(bare, settings, memory=NOTHING, now_s=1000.0)
    assert first.memory.topologies[0].watched is not None
    more = replace(bare, topologies=(*bare.topologies, make.chain("new", (100,), [])))
    second = _plan(more, settings, memory=first.memory, now_s=1020.0)
    assert _by_id(second)["new"].decision is Decision.ASSIGN
    assert second.memory.topologies == ()
    assert second.memory.measured
    third = _plan(bare, settings, memory=second.memory, now_s=1040.0)
    assert _by_id(third)["taxi-1"].decision is Decision.KEEP
    assert dict(third.waits)["taxi-1"].seen_s == 0.0


def test_changes_and_what_began_are_remembered_over_a_large_round():
    change, began = Change(1.0, "00"), Watched(("b",), 1.0, ("a",))
    memory = Memory(
        (
            TopologyMemory("a", change, Watched(("x",), 2.0)),
            TopologyMemory("b", change, began),
            TopologyMemory("c", None, Watched(("x",), 2.0)),
        ),
        measured=True,
    )
    assert memory.unwatched == Memory(
        (TopologyMemory("a", change), TopologyMemory("b", change, began)), measured=True
    )
