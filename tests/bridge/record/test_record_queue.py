"""Rounds are recorded in their order after their answers; what does not fit is counted, the rest drained."""

from __future__ import annotations

import threading

import pytest

from bridge.record.record import RecordError, RecordWriter, read_records
from bridge.record.record_queue import AnsweredRound, RecordQueue
from bridge.round.memory import NOTHING
from bridge.settings import Settings
from bridge.wire.contract import VERSION
from bridge.wire.messages import PlanResponse
from bridge.wire.structs import to_thrift


@pytest.fixture
def answered(make):
    raw = to_thrift(make.cluster())

    def answer(name, request=raw):
        return AnsweredRound(
            request=request,
            response=PlanResponse(VERSION, name, ()),
            settings=Settings(),
            time_s=1.0,
            timings_ms={"plan": 1.23456},
            timed_out=False,
            now_s=2.0,
            memory=NOTHING,
        )

    return answer


class Held:
    """A writer that writes when it is let."""

    def __init__(self):
        self.begun, self.let = threading.Event(), threading.Event()
        self.written = []

    def append(self, record):
        self.begun.set()
        assert self.let.wait(60)
        self.written.append(record)


def test_rounds_are_written_in_their_order_and_drained_at_the_end(answered, tmp_path):
    """All of them, before `close` returns."""
    failures = []
    records = RecordQueue(RecordWriter(tmp_path, 65536, 2), lambda *failure: failures.append(failure), 100)
    for number in range(20):
        records.put(answered(str(number)))
    records.close()
    found = list(read_records(tmp_path))
    assert [each.response for each in found] == [answered(str(n)).record().response for n in range(20)]
    assert found[0].timings_ms == {"plan": 1.235}
    assert failures == []


def test_putting_a_round_waits_for_no_disk(answered):
    """One is being written and two wait: the next ones are not recorded, which is said of each."""
    writer, failures = Held(), []
    records = RecordQueue(writer, lambda *failure: failures.append(failure), 2)
    records.put(answered("0"))
    assert writer.begun.wait(60)
    for number in range(1, 5):
        records.put(answered(str(number)))
    assert failures == [(str(number), "2 rounds wait to be recorded already") for number in (3, 4)]
    writer.let.set()
    records.close()
    assert len(writer.written) == 3


def test_a_round_that_cannot_be_recorded_costs_no_other(answered):
    """A full disk, and a request that no encoder takes."""
    failures, written = [], []

    class Full:
        def append(self, record):
            written.append(record)
            if len(written) == 1:
                raise RecordError("no space left")

    records = RecordQueue(Full(), lambda *failure: failures.append(failure))
    for each in (answered("0"), answered("1", request=object()), answered("2")):
        records.put(each)
    records.close()
    assert failures[0] == ("0", "no space left")
    assert failures[1][0] == "1"
    assert failures[1][1].startswith("Traceback ")
    assert len(failures) == 2
    assert len(written) == 2


def test_an_end_that_a_disk_holds_up_is_given_up_and_said(answered, monkeypatch):
    """After a while."""
    monkeypatch.setattr("bridge.record.record_queue._DRAIN_S", 0.01)
    writer, failures = Held(), []
    records = RecordQueue(writer, lambda *failure: failures.append(failure))
    records.put(answered("0"))
    records.close()
    assert failures == [("", "rounds that wait to be recorded were given up after 0.01 s")]
    writer.let.set()
