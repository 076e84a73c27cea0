"""A malformed topology is kept with the reason, the others are planned around it, and a replay agrees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.record.record import RecordWriter, read_records
from bridge.record.replay_record import replay
from bridge.round.malformed import name_malformed
from bridge.wire.contract import VERSION
from bridge.wire.messages import Decision, PlanResponse
from bridge.wire.request_decoding import Malformed
from bridge.wire.structs import to_thrift

REASON = "topologies[0].stream_to: 1 values where stream_from has 8"


def bad_and_good(make):
    """Topology a holds port 6700 of every host and is malformed, b is new."""
    bad = make.assigned(make.taxi("a"), [0, 1, 2, 3, 4, 5, 6, 6], 6700)
    return make.cluster(replace(bad, stream_to=(0,)), make.chain("b", [1, 1], [0]))


def test_the_others_are_planned_around_a_malformed_topology(make, daemon):
    """Its status is the reason; what it holds is taken by none; the log names it once, metrics each time."""
    client = daemon.client()
    first, second = (client.plan(to_thrift(bad_and_good(make))) for _ in range(2))
    client.close()
    bad, good = first.plans
    assert (bad.decision, bad.strategy, bad.executor_port) == (Decision.KEEP, "none", [])
    assert bad.status == f"not planned, as the request describes it wrongly: {REASON}"
    assert good.decision == Decision.ASSIGN
    assert set(good.executor_port) == {6701}
    assert second == first
    (event,) = daemon.events("faults in readings, metadata or settings")
    assert event["faults"] == [f"a is malformed ({REASON})"]
    assert [each["faults"] for each in daemon.events("round")] == [{"topology_malformed": 1}] * 2


@pytest.mark.parametrize("field", ["executor_cpu_percent", "executor_memory_mb"])
@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -50.0, 1e300])
def test_an_amount_that_is_none_costs_only_its_topology(make, daemon, field, amount):
    """It runs on every host: what it states must not fill or empty them for the other one."""
    spoilt = replace(make.assigned(make.taxi("a"), [0, 1, 2, 3, 4, 5, 6, 6], 6700), **{field: (amount,) * 8})
    sound = replace(
        make.chain("b", [1, 1], [0]), executor_cpu_percent=(10.0,) * 2, executor_memory_mb=(10.0,) * 2
    )
    request = make.cluster(spoilt, sound)
    offered = {"cpu_percent": 100.0, "memory_mb": 1024.0}
    supervisors = tuple(replace(each, **offered) for each in request.supervisors)
    client = daemon.client()
    bad, good = client.plan(to_thrift(replace(request, supervisors=supervisors))).plans
    client.close()
    assert bad.decision == Decision.KEEP
    assert f"topologies[0].{field}[0]: {amount:g} is outside 0..1e+09" in bad.status
    assert good.decision == Decision.ASSIGN
    assert "above what is declared" not in good.status


def test_a_round_with_a_malformed_topology_is_replayed_to_the_same_bytes(make, running, tmp_path):
    """The record holds the request as it came."""
    with running(recorder=RecordWriter(tmp_path, 65536, 2)) as daemon:
        client = daemon.client()
        client.plan(to_thrift(bad_and_good(make)))
        client.close()
    (record,) = read_records(tmp_path)
    assert REASON.encode() in record.response
    assert replay(record) == record.response


def test_a_malformed_topology_without_a_plan_has_its_reason_all_the_same():
    """Its stand-in was left out."""
    named = name_malformed(PlanResponse(VERSION, "r", ()), [Malformed("a", "two\nlines")])
    assert [(plan.topology_id, plan.decision) for plan in named.plans] == [("a", Decision.KEEP)]
    assert named.plans[0].status.endswith(": two lines")
