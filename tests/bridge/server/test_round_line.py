"""The log stays small however many topologies there are, and names those to which something happens."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.round.small.stability import Wait
from bridge.server.round_line import MOST_LISTED, topology_fields
from bridge.settings import Settings
from bridge.wire.messages import Decision, Price, TopologyPlan
from bridge.wire.structs import to_thrift
from tests.bridge.round.planner_rounds import GOOD


def _plan(topology, decision):
    price = Price(0.0, 0, 0, 0) if decision is Decision.ASSIGN else None
    return TopologyPlan(topology, decision, (), (), "why", "auto", price=price)


@pytest.fixture
def done_with(make):
    """A round of some plans."""
    done = plan_round(make.cluster(), Settings(), lambda: 0.0)

    def build(*plans, **changes):
        return replace(done, response=replace(done.response, plans=plans), **changes)

    return build


def test_what_is_kept_is_counted_and_all_else_is_listed(done_with):
    kinds = {"a": Decision.KEEP, "b": Decision.UNPLACEABLE, "c": Decision.ASSIGN, "d": Decision.KEEP}
    fields = topology_fields(done_with(*(_plan(name, kind) for name, kind in kinds.items())))
    assert [each["id"] for each in fields["topologies"]] == ["b", "c"]
    assert fields["unlisted"] == 2
    assert fields["decisions"] == {"ASSIGN": 1, "KEEP": 2, "UNPLACEABLE": 1}


def test_what_is_kept_with_a_gain_that_waits_is_listed(done_with):
    plans = [_plan(name, Decision.KEEP) for name in "ab"]
    fields = topology_fields(done_with(*plans, waits=(("b", Wait(0.25, 10.0, 0.0)),)))
    (listed,) = fields["topologies"]
    assert (listed["id"], listed["gain"], listed["seen_s"]) == ("b", 0.25, 10.0)


def test_of_too_many_the_assigned_ones_are_listed_first(done_with):
    """Then the refused ones, then gains that wait; evictions are as good as assignments."""
    waiting = [_plan(f"w{number}", Decision.KEEP) for number in range(MOST_LISTED)]
    refused = [_plan(f"r{number}", Decision.UNPLACEABLE) for number in range(MOST_LISTED)]
    evicted = replace(_plan("evicted", Decision.UNPLACEABLE), evicted_for="new")
    placed = _plan("new", Decision.ASSIGN)
    waits = tuple((each.topology_id, Wait(0.1, 0.0, 0.0)) for each in waiting)
    fields = topology_fields(done_with(*waiting, *refused, evicted, placed, waits=waits))
    listed = [each["id"] for each in fields["topologies"]]
    assert listed == [*(each.topology_id for each in refused[: MOST_LISTED - 2]), "evicted", "new"]
    assert fields["unlisted"] == MOST_LISTED + 2


def test_a_round_of_very_many_kept_topologies_is_a_short_line(make, daemon):
    runs = make.assigned(make.taxi(), GOOD)
    frozen = replace(runs, settings_json='{"topology.stormplace.frozen": true}')
    many = [
        make.assigned(replace(frozen, id=f"t{number}", name=f"t{number}"), GOOD, 7000 + number)
        for number in range(200)
    ]
    client = daemon.client()
    assert len(client.plan(to_thrift(make.cluster(*many))).plans) == len(many)
    client.close()
    (event,) = daemon.events("round")
    assert (event["topologies"], event["unlisted"]) == ([], 200)
    assert len(json.dumps(event)) < 2000


def test_many_that_are_left_out_are_few_lines_and_the_rounds_line_names_them(make, daemon, monkeypatch):
    """The first, the tenth and the hundredth, over all rounds; traces are few in each round."""

    def broken(*_):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bridge.round.small.small_round.place_missing", broken)
    chains = [replace(make.chain(f"t{number:02}", (1,), []), num_workers=1) for number in range(60)]
    client = daemon.client()
    for _ in range(2):
        assert client.plan(to_thrift(make.cluster(*chains))).plans == []
    client.close()
    warnings = daemon.events("topology left to Storm's own scheduler")
    assert [(each["count"], each["topology"]) for each in warnings] == [(1, "t00"), (10, "t09"), (100, "t39")]
    assert all(each["reason"] == "planning failed (ZeroDivisionError: boom)" for each in warnings)
    for event in daemon.events("round"):
        assert event["left_out"] == 60
        names = [each["id"] for each in event["left_out_topologies"]]
        assert names == [f"t{number:02}" for number in range(MOST_LISTED)]
    traces = daemon.events("planning a topology failed")
    assert len(traces) == 20
    assert all(each["in_round"] == 60 for each in traces)
