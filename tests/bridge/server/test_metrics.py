"""Rounds are counted by what they came to, and the last one's figures are those that it planned with."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from bridge.readings.fault_kinds import FaultKind
from bridge.record.record import RecordWriter
from bridge.server import handler as rounds
from bridge.server.metrics import DaemonMetrics
from bridge.wire.contract import idl
from bridge.wire.structs import to_thrift

BEFORE = "stormplace_daemon_"


class Metered:
    """A handler of rounds with its metrics."""

    def __init__(self, running, **options):
        self.registry = CollectorRegistry()
        self.context = running(callbacks=DaemonMetrics(self.registry, lambda: 1e9), **options)

    def __enter__(self):
        self.handler = self.context.__enter__().handler
        return self

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def plan(self, request):
        call = self.handler.call()
        answer = call.plan(to_thrift(request))
        call.finish()
        return answer

    def __call__(self, name, **labels):
        return self.registry.get_sample_value(BEFORE + name, labels)


@pytest.fixture
def metered(running):
    with Metered(running) as metered:
        yield metered


def test_before_the_first_round_counts_are_zero_and_figures_unknown(metered):
    """A first fault is an increase, and no figure that is not known is a number."""
    assert {metered("faults_total", kind=kind) for kind in FaultKind} == {0}
    assert metered("rounds_total", outcome="planned") == 0
    assert math.isnan(metered("embedding_error_ratio"))
    assert math.isnan(metered("outdated_pairs"))
    assert math.isnan(metered("last_round_timestamp_seconds"))
    assert metered("delay_pairs", source="uniform") is None


def test_a_round_counts_once_with_its_time_and_decisions(make, metered):
    """One topology is placed, one that runs well is kept, one has no place."""
    nowhere = make.taxi("c", settings={"pin": {"parser": "site:atlantis"}})
    running = make.assigned(make.chain("b", [1], []), [0], 6701)
    metered.plan(make.cluster(make.chain("a", [1, 1], [0]), running, nowhere))
    assert metered("rounds_total", outcome="planned") == metered("plan_duration_seconds_count") == 1
    assert 0 < metered("plan_duration_seconds_sum") < 600
    decisions = ("assigned", "kept", "unplaceable", "left_out")
    assert [metered("topologies_total", decision=decision) for decision in decisions] == [1, 1, 1, 0]
    assert metered("executors_moved_total") == 0
    assert metered("last_round_timestamp_seconds") == 1e9


def test_moves_are_counted_by_executor(make, metered):
    """A pin sends three executors elsewhere."""
    pins = dict.fromkeys(("parser", "metronome", "globalRank"), "site:us-east1")
    request = make.cluster(make.assigned(make.taxi(settings={"pin": pins}), [0, 0, 1, 1, 2, 2, 3, 3]))
    (plan,) = metered.plan(request).plans
    assert metered("executors_moved_total") == plan.price.executors_moved >= 3


def test_each_request_without_a_plan_is_counted_by_its_reason(make, running, monkeypatch):
    """Another version, a fault of the daemon, no room for another round."""
    with Metered(running, max_rounds=1) as metered:
        with pytest.raises(idl.Refused):
            metered.plan(replace(make.cluster(), version=2))

        def broken(*_, **__):
            raise ZeroDivisionError("boom")

        with monkeypatch.context() as patch:
            patch.setattr(rounds, "plan_round", broken)
            with pytest.raises(idl.Refused):
                metered.plan(make.cluster())
        begun, release = threading.Event(), threading.Event()
        genuine = rounds.plan_round

        def hanging(*arguments, **options):
            begun.set()
            release.wait(60)
            return genuine(*arguments, **options)

        monkeypatch.setattr(rounds, "plan_round", hanging)
        first = threading.Thread(target=metered.plan, args=(make.cluster(),))
        first.start()
        assert begun.wait(60)
        # A scrape waits for no round.
        assert b'stormplace_daemon_rounds_total{outcome="failed"} 1.0' in generate_latest(metered.registry)
        with pytest.raises(idl.Refused):
            metered.plan(replace(make.cluster(), deadline_ms=1))
        release.set()
        first.join(60)
        outcomes = ("refused", "failed", "busy", "planned", "timed_out")
        assert [metered("rounds_total", outcome=outcome) for outcome in outcomes] == [1, 1, 1, 1, 0]


def test_a_round_that_ran_out_of_time_and_what_it_left_out_are_counted(make, metered):
    """A deadline that is over at the start leaves the topology to Storm's own scheduler."""
    assert metered.plan(replace(make.cluster(make.taxi()), deadline_ms=0)).plans == []
    assert metered("rounds_total", outcome="timed_out") == 1
    assert metered("topologies_total", decision="left_out") == 1


def test_rounds_that_are_not_recorded_are_counted(make, running, tmp_path):
    """The disk is full."""
    (tmp_path / "rounds-00000001.jsonl.gz").symlink_to("/dev/full")
    with Metered(running, recorder=RecordWriter(tmp_path, 65536, 2)) as metered:
        metered.plan(make.cluster())
        metered.handler.close()
        assert metered("record_failures_total") == 1


def test_the_last_rounds_figures_say_where_delays_and_rates_come_from(make, metered):
    """Of seven hosts one is silent and one stale; two measured their link, 10 % off their coordinates."""
    link = {"europe-west1-1": {"delay_ms": 31.333, "age_s": 0.0}}
    first = make.reading("uniroma2-1", "uniroma2", 0.0, links=link)
    stale = make.reading("us-east1-2", "us-east1", 120.0, age_ms=31_000)
    request = make.cluster(make.taxi())
    metered.plan(replace(request, readings=(first, *request.readings[2:-1], stale)))
    assert [metered("hosts", reading=state) for state in ("believed", "stale", "none")] == [5, 1, 1]
    sources = ("measured", "coordinates", "site_median", "site_table", "uniform")
    assert [metered("delay_pairs", source=source) for source in sources] == [1, 9, 10, 1, 0]
    assert metered("embedding_error_ratio") == pytest.approx(0.1, rel=1e-3)
    assert [metered("rated_topologies", rates=known) for known in ("measured", "not_measured")] == [0, 1]
    metered.plan(make.cluster())
    assert math.isnan(metered("embedding_error_ratio"))
    assert [metered("delay_pairs", source=source) for source in sources] == [0, 21, 0, 0, 0]


def test_outdated_links_are_no_measured_pairs(make, metered):
    """The path between two sites tripled: three links of several hosts show it, a fourth is too old to."""

    def links(*peers, delay_ms=90.0, age_s=1.0):
        return {peer: {"delay_ms": delay_ms, "age_s": age_s} for peer in peers}

    changed = (
        make.reading("uniroma2-1", "uniroma2", 0.0, links=links("europe-west1-1", "europe-west1-2")),
        make.reading(
            "uniroma2-2",
            "uniroma2",
            0.0,
            links=links("europe-west1-1") | links("europe-west1-2", delay_ms=28.0, age_s=40.0),
        ),
    )
    request = make.cluster()
    others = tuple(reading for reading in request.readings if not reading.name.startswith("uniroma2"))
    metered.plan(replace(request, readings=(*changed, *others)))
    assert metered("outdated_pairs") == 1
    assert metered("delay_pairs", source="measured") == 3
    metered.plan(request)
    assert metered("outdated_pairs") == 0
