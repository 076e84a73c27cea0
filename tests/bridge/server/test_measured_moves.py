"""What a move really cost is in the log, the metrics, the record and the next looks at a plan."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry

from bridge.record.record import RecordWriter, read_records
from bridge.record.replay_record import replay
from bridge.round.price.measuring import LONGEST_S, SETTLED_S
from bridge.server import handler
from bridge.server.metrics import DaemonMetrics
from bridge.wire.contract import VERSION, idl
from bridge.wire.messages import Drain
from bridge.wire.structs import to_thrift
from formats.drain import content_of
from tests.bridge.conftest import assigned, cluster
from tests.bridge.round.price.priced_rounds import acking, rates

T = 1_700_000_000.0
BEFORE = "stormplace_daemon_"


class Scene:
    """A daemon whose clock is set, and rounds that it is asked for in turn."""

    def __init__(self, daemon, clock, registry):
        self.daemon = daemon
        self.clock = clock
        self.registry = registry
        drains = tuple(Drain(f"site:{site}", content_of(None), 0) for site in ("europe-west1", "us-east1"))
        self.request = replace(cluster(acking([3, 4, 5, 0, 0])), drains=drains)

    def plan(self, unix_s, *readings):
        """Ask for a round with these rates, and carry it out."""
        self.clock.unix_s = unix_s
        request = replace(self.request, readings=(*self.request.readings, *readings))
        call = self.daemon.handler.call()
        (plan,) = call.plan(to_thrift(request)).plans
        call.finish()
        if plan.executor_supervisor:
            topology = assigned(request.topologies[0], plan.executor_supervisor, plan.executor_port)
            self.request = replace(self.request, topologies=(topology,), drains=())
        return plan

    def leave(self, unix_s=T):
        """Have three executors leave two sites for two workers elsewhere."""
        sites = ("europe-west1", "us-east1")
        drains = tuple(Drain(f"site:{site}", content_of(None), 0) for site in sites)
        self.request = replace(cluster(acking([3, 4, 5, 0, 0])), drains=drains)
        plan = self.plan(unix_s)
        assert plan.price.executors_restarted == 3

    def move(self, unix_s=T, **fields):
        """Have them leave, run again 9 and 14 s later, and work after 12 and 21 s."""
        self.leave(unix_s)
        now_s = unix_s + 21 + SETTLED_S
        began = {
            "started": [[int(unix_s) + 9, [1, 2]], [int(unix_s) + 14, [3]]],
            "worked": [[int(unix_s) + 12, [1, 2]], [int(unix_s) + 21, [3]]],
        }
        fields = {key: value for key, value in (began | fields).items() if value is not None}
        self.plan(now_s, rates(time=now_s - 2.0, **fields))

    def value(self, name, **labels):
        return self.registry.get_sample_value(BEFORE + name, labels)


@pytest.fixture
def scene(running, tmp_path, monkeypatch):
    clock = SimpleNamespace(unix_s=T)
    fake = SimpleNamespace(time=lambda: clock.unix_s, monotonic=time.monotonic)
    monkeypatch.setattr(handler, "time", fake)
    registry = CollectorRegistry()
    recorder = RecordWriter(tmp_path, 10**7, 2)
    with running(recorder=recorder, callbacks=DaemonMetrics(registry)) as daemon:
        yield Scene(daemon, clock, registry)


def test_predicted_and_measured_stand_in_one_line_of_the_log(scene):
    """Pause, restarts and response times; the round's own line has what was predicted."""
    scene.move()
    (event,) = scene.daemon.events("move measured")
    assert event["topology"] == "t"
    assert event["pause_s"] == {"predicted": 20.0, "measured": pytest.approx(21.0, abs=0.1)}
    assert (event["workers_ran_s"], event["pause_until"]) == (pytest.approx(14.0, abs=0.1), "work")
    assert event["executors"] == {"predicted": 3, "measured": 3}
    response = event["response_time_ms"]
    assert response["predicted"] == response["after"] < response["before"]
    first, *_ = scene.daemon.events("round")
    (listed,) = first["topologies"]
    assert (listed["pause_s"], listed["pause_source"]) == (20.0, "default")
    assert listed["metrics"]["response_time_ms"] == [
        pytest.approx(response["before"]),
        pytest.approx(response["predicted"], abs=0.001),
    ]
    assert "payback_s" not in listed


def test_what_cannot_be_measured_is_a_warning(scene):
    """With the reason, and what was predicted."""
    scene.leave()
    scene.plan(T + LONGEST_S + 1)
    (event,) = scene.daemon.events("move not measured")
    assert event["level"] == "warning"
    assert event["reason"].startswith("the rates name no start ")
    assert event["pause_s"] == {"predicted": 20.0, "measured": None}
    assert (event["workers_ran_s"], event["pause_until"]) == (None, None)
    assert scene.value("moves_measured_total", outcome="not_measured") == 1
    assert scene.value("move_pause_seconds_count", kind="predicted") == 0


def test_metrics_count_moves_and_both_pauses(scene):
    """From 0 on."""
    assert scene.value("moves_measured_total", outcome="measured") == 0
    scene.move()
    assert scene.value("moves_measured_total", outcome="measured") == 1
    assert scene.value("move_pause_seconds_sum", kind="predicted") == 20.0
    assert scene.value("move_pause_seconds_sum", kind="measured") == pytest.approx(21.0, abs=0.1)


def test_records_have_both_and_replay_to_the_same_bytes(scene, tmp_path):
    """Also the round that prices by what was measured."""
    scene.move()
    scene.request = replace(scene.request, drains=(Drain("site:uniroma2", content_of(None), 0),))
    scene.plan(T + 500)
    scene.daemon.handler.close()
    records = list(read_records(tmp_path))
    assert [len(each.measured) for each in records] == [0, 1, 0]
    assert records[1].measured[0]["pause_s"]["measured"] == pytest.approx(21.0, abs=0.1)
    assert [replay(each) == each.response for each in records] == [True] * 3


def test_the_next_look_at_a_plan_says_what_its_pause_rests_on(scene):
    """Two moves with two workers each."""
    scene.move()
    scene.move(T + 1000)
    request = idl.PreviewRequest(version=VERSION, topology="t", drains=["site:uniroma2"])
    with closing(scene.daemon.client()) as client:
        price = json.loads(client.preview(request).answer_json)["next_round"]["price"]
    assert (price["pause_source"], price["pause_samples"]) == ("first starts", 4)
    assert 12.0 < price["pause_s"] <= 21.1


def test_a_pause_until_workers_run_says_so(scene):
    """The collector is of before, and says nothing of work."""
    for since_s in (0, 1000):
        scene.move(T + since_s, worked=None)
    event = scene.daemon.events("move measured")[0]
    assert event["pause_s"]["measured"] == event["workers_ran_s"] == pytest.approx(14.0, abs=0.1)
    assert event["pause_until"] == "start"
    request = idl.PreviewRequest(version=VERSION, topology="t", drains=["site:uniroma2"])
    with closing(scene.daemon.client()) as client:
        price = json.loads(client.preview(request).answer_json)["next_round"]["price"]
    assert (price["pause_source"], price["pause_samples"]) == ("first starts, until they run", 4)
