"""Rounds over a real connection: plans, refusals, the log and the record."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from thriftpy2.transport import TTransportException

from bridge.record.record import RecordWriter, read_records
from bridge.round.planner import plan_round
from bridge.server import handler as rounds
from bridge.wire.contract import idl
from bridge.wire.encoding import encode_response
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from tests.bridge.round.planner_rounds import PINNED, SCATTERED


def test_a_plan_over_the_wire_is_that_of_the_planner(make, daemon):
    """Any framed binary client gets what the pure function answers, call after call on one connection."""
    request = make.cluster(make.taxi("a"), make.assigned(make.taxi("b"), [0, 0, 1, 1, 2, 2, 3, 3], 6701))
    expected = to_thrift(plan_round(request, daemon.settings, lambda: 0.0).response)
    client = daemon.client()
    assert client.plan(to_thrift(request)) == expected
    assert client.plan(to_thrift(request)) == expected
    client.close()


def test_what_the_answer_leaves_out_is_logged_with_its_reason(make, daemon, monkeypatch):
    """The shim falls back for that topology alone."""

    def broken(*_):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bridge.round.small.small_round.place_missing", broken)
    client = daemon.client()
    assert client.plan(to_thrift(make.cluster(make.taxi()))).plans == []
    client.close()
    (event,) = daemon.events("topology left to Storm's own scheduler")
    assert event["topology"] == "taxi-1"
    assert event["reason"] == "planning failed (ZeroDivisionError: boom)"


def test_each_round_is_one_line_of_the_log(make, daemon):
    """Round, topologies with decision, strategy, objective and moves, time and where the delays come from."""
    client = daemon.client()
    client.plan(to_thrift(make.cluster(make.taxi())))
    client.close()
    (event,) = daemon.events("round")
    assert (event["round_id"], event["executors"], event["moves"], event["timed_out"]) == (
        "round-1",
        8,
        0,
        False,
    )
    assert event["data"].startswith("delays from coordinates 7/7")
    assert event["plan_ms"] > 0
    (topology,) = event["topologies"]
    assert (topology["id"], topology["decision"], topology["strategy"]) == (
        "taxi-1",
        "ASSIGN",
        "auto",
    )


def test_faults_are_logged_when_they_change_not_in_every_round(make, daemon):
    """Two rounds with the same bad key, then one without: two lines."""
    client = daemon.client()
    bad = to_thrift(make.cluster(make.taxi(settings={"colour": "red"})))
    for request in (bad, bad, to_thrift(make.cluster(make.taxi()))):
        client.plan(request)
    client.close()
    events = daemon.events("faults in readings, metadata or settings")
    assert [len(event["faults"]) for event in events] == [1, 0]


def test_another_version_is_refused_with_a_clear_message(make, daemon):
    """The shim gets the versions that are spoken, and the connection goes on."""
    client = daemon.client()
    with pytest.raises(idl.Refused) as caught:
        client.plan(to_thrift(replace(make.cluster(), version=2)))
    sentence = "request: contract version 2 is not known here, versions 1 to 1 are spoken"
    assert caught.value.reason == sentence
    assert (caught.value.oldest_version, caught.value.newest_version) == (1, 1)
    assert client.plan(to_thrift(make.cluster())).plans == []
    client.close()


def test_a_fault_of_the_daemon_is_refused_and_logged_with_its_trace(make, daemon, monkeypatch):
    """The shim is answered at once instead of waiting for its deadline."""

    def broken(*_, **__):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(rounds, "plan_round", broken)
    client = daemon.client()
    with pytest.raises(idl.Refused) as caught:
        client.plan(to_thrift(make.cluster()))
    client.close()
    assert caught.value.reason == "the daemon failed to plan: ZeroDivisionError: boom"
    assert daemon.events("round failed")


def test_rounds_are_recorded_with_the_bytes_that_were_answered(make, tmp_path, running):
    """The record's response is the client's."""
    with running(recorder=RecordWriter(tmp_path, 65536, 2)) as daemon:
        client = daemon.client()
        answer = client.plan(to_thrift(make.cluster(make.taxi())))
        client.close()
    (record,) = read_records(tmp_path)
    expected = plan_round(make.cluster(make.taxi()), daemon.settings, lambda: 0.0).response
    assert record.response == encode_response(expected)
    assert to_thrift(expected) == answer
    assert set(record.timings_ms) == {"wait", "plan"}


def test_a_record_that_cannot_be_written_costs_no_plan(make, tmp_path, running):
    """The disk is full: the plan comes, the log says so and counts."""
    writer = RecordWriter(tmp_path, 65536, 2)
    (tmp_path / "rounds-00000001.jsonl.gz").symlink_to("/dev/full")
    with running(recorder=writer) as daemon:
        client = daemon.client()
        for _ in range(2):
            assert client.plan(to_thrift(make.cluster(make.taxi()))).plans[0].decision == Decision.ASSIGN
        client.close()
    assert [event["failures"] for event in daemon.events("round not recorded")] == [1, 2]


def test_the_answer_goes_out_before_the_round_is_recorded(make, running):
    """The disk hangs until the client has its plan."""
    answered = threading.Event()

    class Disk:
        def append(self, record):
            assert answered.wait(60)
            written.append(record)

    written = []
    with running(recorder=Disk()) as daemon:
        client = daemon.client()
        assert client.plan(to_thrift(make.cluster(make.taxi()))).plans
        answered.set()
        client.close()
    assert len(written) == 1


def test_a_round_is_recorded_though_its_client_has_left(make, running, tmp_path, monkeypatch):
    """It was planned, and may be what made the client leave."""
    monkeypatch.setattr("bridge.server.plan_server.write_frame", broken_pipe)
    with running(recorder=RecordWriter(tmp_path, 65536, 2)) as daemon:
        client = daemon.client()
        with pytest.raises(TTransportException):
            client.plan(to_thrift(make.cluster(make.taxi())))
        client.close()
    assert len(list(read_records(tmp_path))) == 1


def broken_pipe(*_):
    raise BrokenPipeError


def test_a_deadline_within_the_margin_is_named(make, daemon):
    """Nothing can be planned in no time, and the setting that leaves none is in the log."""
    client = daemon.client()
    client.plan(to_thrift(replace(make.cluster(make.taxi()), deadline_ms=200)))
    client.close()
    (event,) = daemon.events("no time to plan")
    assert event["reason"] == "the deadline of 200 ms is within plan.deadline_margin_ms 200"


def test_the_log_says_how_long_a_gain_still_waits(make, daemon):
    """The status line does not: Nimbus would log each change of it."""
    client = daemon.client()
    client.plan(to_thrift(make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))))
    client.close()
    (topology,) = daemon.events("round")[0]["topologies"]
    assert topology["gain"] > 0.2
    assert (topology["seen_s"], topology["cooling_s"]) == (0.0, 0.0)


def test_several_clients_are_served_at_once(make, daemon, monkeypatch):
    """Two rounds (the default limit) run side by side: each waits for the other to have begun."""
    both = threading.Barrier(2, timeout=60)

    def together(*arguments, **options):
        both.wait()
        return plan_round(*arguments, **options)

    monkeypatch.setattr(rounds, "plan_round", together)

    def ask(number):
        client = daemon.client()
        answer = client.plan(to_thrift(replace(make.cluster(), round_id=str(number))))
        client.close()
        return answer.round_id

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, range(2))) == ["0", "1"]


def test_a_round_that_finds_no_place_before_its_deadline_is_refused(make, daemon, monkeypatch):
    """Two rounds hang: the third is refused when its own time is over."""
    begun, release = threading.Barrier(3, timeout=60), threading.Event()

    def hanging(*arguments, **options):
        begun.wait()
        release.wait(60)
        return plan_round(*arguments, **options)

    monkeypatch.setattr(rounds, "plan_round", hanging)

    def ask(deadline_ms):
        client = daemon.client()
        try:
            return client.plan(to_thrift(replace(make.cluster(), deadline_ms=deadline_ms)))
        except idl.Refused as refused:
            return refused.reason
        finally:
            client.close()

    with ThreadPoolExecutor(3) as pool:
        first, second = pool.submit(ask, 60_000), pool.submit(ask, 60_000)
        begun.wait()
        assert ask(1) == "2 rounds are being planned already"
        release.set()
        assert first.result().plans == second.result().plans == []
