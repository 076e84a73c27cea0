"""What goes wrong with one topology before any is planned costs only that one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round import last_slots, unread
from bridge.round.planner import plan_round
from bridge.round.preparing import prepare
from bridge.round.small import small_round
from bridge.settings import PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision
from bridge.wishes import wishes as reading
from tests.bridge.round.full_clusters import BOTH, cluster, strict_settings, topology
from tests.bridge.round.planner_rounds import AT_ONCE, GOOD, SCATTERED
from tests.bridge.round.whole_rounds import SIZES, settings_of

BAD = '{"boom": 1}'
REASON = "planning failed (ZeroDivisionError: boom)"
UPLINK = {"site": [{"name": "uniroma2", "uplink_bytes_per_s": 1e6}]}


@pytest.fixture
def unreadable(monkeypatch):
    """What Storm's keys of some topologies say cannot be read."""
    genuine = reading.parse_storm_settings

    def parse(text, names):
        if text == BAD:
            raise ZeroDivisionError("boom")
        return genuine(text, names)

    monkeypatch.setattr(reading, "parse_storm_settings", parse)
    monkeypatch.setattr(last_slots, "parse_storm_settings", parse)


def _cluster(make, *topologies):
    """Seven hosts with room for four executors each."""
    request = make.cluster(*topologies)
    roomy = (replace(each, meta={**each.meta, "stormplace.executors": "4"}) for each in request.supervisors)
    return replace(request, supervisors=tuple(roomy))


def _round(request, size):
    return plan_round(request, settings_of(size), lambda: 0.0)


def _outcome(done):
    """What came out of a round: plans and reasons by topology, and the topologies with traces."""
    plans = {plan.topology_id: plan for plan in done.response.plans}
    return plans, dict(done.left_out), [each for each, _ in done.traces]


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("size", SIZES)
def test_one_that_cannot_be_read_is_left_to_storm_and_the_others_are_served(make, size):
    bad = replace(make.taxi("bad"), storm_json=BAD)
    done = _round(_cluster(make, bad, make.taxi("good")), size)
    plans, left_out, traces = _outcome(done)
    assert {name: plan.decision for name, plan in plans.items()} == {"good": Decision.ASSIGN}
    assert (left_out, traces) == ({"bad": REASON}, ["bad"])
    assert "ZeroDivisionError: boom" in dict(done.traces)["bad"]
    assert done.response.hold_ms is None


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("size", SIZES)
def test_no_round_is_held_while_one_is_left_to_storm(make, size):
    bad = replace(make.taxi("bad"), storm_json=BAD)
    frozen = make.assigned(make.taxi("good", {"frozen": True}), GOOD)
    assert _round(_cluster(make, frozen), size).response.hold_ms is not None
    assert _round(_cluster(make, frozen, bad), size).response.hold_ms is None


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("size", SIZES)
def test_one_that_runs_completely_is_kept_in_its_slots(make, size):
    """Its slots are taken: the other one goes elsewhere."""
    bad = make.assigned(replace(make.taxi("bad"), storm_json=BAD), GOOD)
    request = _cluster(make, bad, make.taxi("good"))
    plans, left_out, traces = _outcome(_round(request, size))
    assert (plans["bad"].decision, plans["bad"].status) == (Decision.KEEP, f"kept: {REASON}")
    good = plans["good"]
    assert good.decision is Decision.ASSIGN
    held = set(zip(bad.executor_supervisor, bad.executor_port, strict=True))
    assert not held & set(zip(good.executor_supervisor, good.executor_port, strict=True))
    assert (left_out, traces) == ({}, ["bad"])


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("size", SIZES)
def test_what_runs_of_one_that_lacks_executors_holds_its_slots(make, size):
    slots = [*GOOD[:7], UNASSIGNED]
    bad = make.assigned(replace(make.taxi("bad"), storm_json=BAD), slots, [*(6700,) * 7, UNASSIGNED])
    plans, left_out, _ = _outcome(_round(_cluster(make, bad, make.taxi("good")), size))
    good = plans["good"]
    assert good.decision is Decision.ASSIGN
    held = set(zip(slots[:7], [6700] * 7, strict=True))
    assert not held & set(zip(good.executor_supervisor, good.executor_port, strict=True))
    assert left_out == {"bad": REASON}


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("size", SIZES)
def test_one_that_is_rebalanced_costs_the_others_nothing(make, size):
    """Its last slots are looked at before all else."""
    hidden = replace(make.taxi("bad"), storm_json=BAD, last_supervisor=tuple(GOOD), last_port=(6700,) * 8)
    plans, left_out, _ = _outcome(_round(_cluster(make, hidden, make.taxi("good")), size))
    assert plans["good"].decision is Decision.ASSIGN
    assert left_out == {"bad": REASON}


@BOTH
@pytest.mark.usefixtures("unreadable")
def test_one_that_cannot_be_read_is_not_evicted(make, max_pairs):
    """Its priority is not known."""
    bad = make.assigned(topology(make, "bad", storm_json=BAD), [0] * 4)
    request = cluster(make, bad, topology(make, "high", priority=1), hosts=1)
    done = plan_round(request, strict_settings(max_pairs, evict=True), lambda: 0.0)
    plans, _, _ = _outcome(done)
    assert plans["high"].decision is Decision.UNPLACEABLE
    assert plans["bad"].status == f"kept: {REASON}"


@pytest.mark.parametrize("size", SIZES)
def test_a_pin_that_cannot_be_worked_out_costs_only_its_topology(make, size, monkeypatch):
    """Also where the topology has hosts for itself, which are chosen before any is planned."""
    genuine = unread.permits_of

    def permits(each, settings, hosts):
        if settings.pin:
            raise ZeroDivisionError("boom")
        return genuine(each, settings, hosts)

    for module in ("round.unread", "problem.isolation", "problem.permits", "problem.task"):
        monkeypatch.setattr(f"bridge.{module}.permits_of", permits)
    bad = make.assigned(make.taxi("bad", {"pin": {"parser": "host:us-east1-1"}}), GOOD)
    isolated = json.dumps({"isolation.scheduler.machines": {"bad": 4}})
    done = _round(replace(_cluster(make, bad, make.taxi("good")), cluster_json=isolated), size)
    plans, _, traces = _outcome(done)
    assert plans["bad"].status == f"kept: {REASON}"
    assert plans["good"].decision is Decision.ASSIGN
    assert not set(plans["good"].executor_supervisor) & set(GOOD)
    assert traces == ["bad"]


@pytest.mark.parametrize("slots", [GOOD, [*GOOD[:7], UNASSIGNED]])
@pytest.mark.parametrize("network", [{}, UPLINK], ids=["no limits", "an uplink that all share"])
def test_one_that_cannot_be_described_costs_no_small_round(make, monkeypatch, slots, network):
    genuine = small_round.make_task

    def make_task(state, index, *arguments):
        if state.request.topologies[index].id == "bad":
            raise ZeroDivisionError("boom")
        return genuine(state, index, *arguments)

    monkeypatch.setattr(small_round, "make_task", make_task)
    ports = [UNASSIGNED if each == UNASSIGNED else 6700 for each in slots]
    bad = make.assigned(make.taxi("bad", {"frozen": True}), slots, ports)
    other = make.assigned(make.taxi("good", {"frozen": True}), GOOD, 6701)
    limited = settings_of(SIZES[0]).model_copy(update={"network": NetworkSettings.model_validate(network)})
    done = plan_round(_cluster(make, bad, other), limited, lambda: 0.0)
    plans, left_out, traces = _outcome(done)
    assert plans["good"].status.startswith("kept: frozen")
    assert traces == ["bad"]
    if UNASSIGNED in slots:
        assert (set(plans), left_out) == ({"good"}, {"bad": REASON})
        assert done.response.hold_ms is None
    else:
        assert (plans["bad"].status, left_out) == (f"kept: {REASON}", {})
        assert done.response.hold_ms is not None


@pytest.mark.usefixtures("unreadable")
def test_it_is_named_once_beside_what_finds_no_room(make):
    """The large round and what is looked at beside it both leave it alone; the other one moves."""
    bad = make.assigned(replace(make.taxi("bad"), storm_json=BAD), GOOD, 6701)
    good = make.assigned(make.taxi("good"), SCATTERED)
    request = _cluster(make, bad, good, make.chain("huge", (200,), []))
    settings = Settings(plan=PlanSettings(max_pairs=500), move=AT_ONCE)
    done = plan_round(request, settings, lambda: 0.0)
    plans, _, traces = _outcome(done)
    assert [plan.topology_id for plan in done.response.plans] == ["bad", "good", "huge"]
    assert plans["bad"].status == f"kept: {REASON}"
    assert plans["good"].decision is Decision.ASSIGN
    assert traces == ["bad"]


@pytest.mark.usefixtures("unreadable")
def test_what_is_planned_on_after_the_answer_is_planned_without_it(make):
    bad = replace(make.taxi("bad"), storm_json=BAD)
    request = _cluster(make, bad, make.taxi("good"))
    response = replace(_round(request, "by counts").response, plans=())
    (prepared,) = prepare(request, response, settings_of("by counts"), lambda: 0.0)
    assert prepared.id == "good"
