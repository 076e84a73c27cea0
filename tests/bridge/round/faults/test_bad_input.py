"""Each kind of bad input is named once in the log, counted in every round, and never read as a zero."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from bridge.network.delays import Provenance
from bridge.network_settings import NetworkSettings
from bridge.readings.fault_kinds import FaultKind
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.round.round_data import gather_data
from bridge.server.metrics import DaemonMetrics
from bridge.settings import Settings
from bridge.wire.messages import Decision, Grouping, Reading, ReadingKind
from bridge.wire.structs import to_thrift

HOST, PEER, SITE = "uniroma2-1", "europe-west1-1", "uniroma2"
NAMES = "faults in readings, metadata or settings"
RATES = {
    "version": 1,
    "time": 1.0,
    "sequence": 1,
    "lifetime_s": 180.0,
    "topology": "taxi-1",
    "window_s": 60.0,
    "sample_rate": 1.0,
    "streams": [{"from": "c0", "stream": "default", "to": "c1", "rate": 10.0}],
    "emitted": [{"component": "c0", "stream": "default", "rate": 10.0}],
    "complete": True,
    "missing": [],
}


@pytest.fixture
def metered(running):
    """A daemon whose counts by kind can be asked for."""
    registry = CollectorRegistry()
    with running(callbacks=DaemonMetrics(registry)) as daemon:
        daemon.counts = lambda: {
            kind: count
            for kind in FaultKind
            if (count := registry.get_sample_value("stormplace_daemon_faults_total", {"kind": kind}))
        }
        daemon.plan = lambda request: daemon.handler.call().plan(to_thrift(request))
        yield daemon


def pair(make):
    """The least topology that has a stream."""
    return make.chain("taxi-1", [1, 1], [Grouping.SHUFFLE])


def rates(age_ms=1000, payload=None, **changes):
    content = json.dumps({**RATES, **changes}).encode() if payload is None else payload
    return Reading(ReadingKind.RATES, "taxi-1", content, age_ms)


def of_one_host(make, *first, age_ms=500, x=0.0, payload=None, **changes):
    """A cluster of which one host publishes this, after what is given first."""
    bad = make.reading(HOST, SITE, x, age_ms=age_ms, **changes)
    if payload is not None:
        bad = replace(bad, payload=payload)
    request = make.cluster(pair(make))
    return replace(request, readings=(*first, bad, *request.readings[1:]))


def no_zero(data):
    """Every pair of hosts has a delay, and every host some availability."""
    apart = ~np.eye(len(data.hosts.hosts), dtype=bool)
    return bool((data.delays.delay_ms[apart] > 0).all() and (data.availability > 0).all())


@pytest.mark.parametrize(
    ("kind", "changes", "name"),
    [
        ("malformed", {"payload": b"{"}, f"reading of {HOST} is malformed (not JSON)"),
        ("malformed", {"payload": b'{"version": 1}'}, f"reading of {HOST} is malformed (time: "),
        ("malformed", {"height": "0.1"}, f"reading of {HOST} is malformed (height: "),
        ("version", {"version": 2}, f"reading of {HOST} is malformed (version: "),
        ("version", {"version": 2, "height": -1.0}, f"reading of {HOST} is malformed (version: "),
        ("impossible", {"availability": 1.5}, f"reading of {HOST} is malformed (availability: "),
        ("impossible", {"availability": -0.1}, f"reading of {HOST} is malformed (availability: "),
        ("impossible", {"height": float("nan")}, f"reading of {HOST} is malformed (height: "),
        ("impossible", {"height": -1.0}, f"reading of {HOST} is malformed (height: "),
        ("impossible", {"x": float("inf")}, f"reading of {HOST} is malformed (coordinate.0: "),
        ("impossible", {"time": float("nan")}, f"reading of {HOST} is malformed (time: "),
        ("foreign", {"host": PEER}, f"reading of {HOST} says that it is of {PEER}"),
        ("stale", {"age_ms": 31_000}, f"reading of {HOST} is stale"),
    ],
)
def test_a_bad_reading_leaves_its_host_to_what_the_others_know(make, metered, kind, changes, name):
    """Named by host and field once, counted by kind in each of three rounds; delays from its site."""
    request = of_one_host(make, **changes)
    for _ in range(3):
        metered.plan(request)
    (event,) = metered.events(NAMES)
    (phrase,) = event["faults"]
    assert phrase.startswith(name)
    assert metered.counts() == {f"readings_{kind}": 3}
    data = gather_data(request, Settings())
    assert HOST not in data.readings.by_host
    assert no_zero(data)
    mine = [host.name for host in data.hosts.hosts].index(HOST)
    others = [place for place in range(7) if place != mine]
    assert set(data.delays.provenance[mine, others]) <= {Provenance.SITE_MEDIAN, Provenance.SITE_TABLE}
    assert data.availability[mine] == 0.99


def test_a_second_reading_of_a_host_changes_nothing(make, metered):
    """The first stands; the second is named once and counted each time."""
    request = of_one_host(make, make.reading(HOST, SITE, 0.0), x=5000.0)
    for _ in range(3):
        metered.plan(request)
    (event,) = metered.events(NAMES)
    assert event["faults"] == [f"reading of {HOST} occurs twice"]
    assert metered.counts() == {FaultKind.READINGS_DUPLICATE: 3}
    only_first = gather_data(make.cluster(pair(make)), Settings())
    np.testing.assert_array_equal(
        gather_data(request, Settings()).delays.delay_ms, only_first.delays.delay_ms
    )


@pytest.mark.parametrize(
    "link",
    [
        {"delay_ms": -1.0, "age_s": 0.0},
        {"delay_ms": float("nan"), "age_s": 0.0},
        {"delay_ms": 5.0, "age_s": 0.0, "availability": 1.01},
        {"delay_ms": 5.0, "age_s": 0.0, "delay_age_s": -0.1},
        {"delay_ms": 5.0, "age_s": 0.0, "delay_age_s": float("inf")},
        {"delay_ms": 5.0, "age_s": 0.0, "delay_age_s": None},
        {"age_s": 0.0},
    ],
)
def test_an_impossible_link_leaves_the_pair_to_coordinates(make, metered, link):
    """Negative, not a number, up more than always, no number at all."""
    request = of_one_host(make, links={PEER: link})
    for _ in range(3):
        metered.plan(request)
    (event,) = metered.events(NAMES)
    assert event["faults"][0].startswith(f"reading of {HOST} holds an impossible link (to {PEER}: ")
    assert metered.counts() == {FaultKind.LINKS_IMPOSSIBLE: 3}
    data = gather_data(request, Settings())
    assert (data.delays.provenance[~np.eye(7, dtype=bool)] == Provenance.COORDINATES).all()
    assert no_zero(data)


def test_links_that_contradict_each_other_are_named_as_a_pair(make, metered):
    """The fresher of both counts, as it is."""
    there = make.reading(PEER, "europe-west1", 28.0, links={HOST: {"delay_ms": 90.0, "age_s": 9.0}})
    request = of_one_host(make, links={PEER: {"delay_ms": 28.0, "age_s": 0.0}})
    others = tuple(there if reading.name == PEER else reading for reading in request.readings)
    for _ in range(3):
        metered.plan(replace(request, readings=others))
    (event,) = metered.events(NAMES)
    assert event["faults"] == [f"{PEER} and {HOST} measure different delays to each other"]
    assert metered.counts() == {FaultKind.LINKS_CONTRADICTORY: 3}


def test_coordinates_that_contradict_direct_links_are_not_used(make, metered):
    """Ten direct links say 300 ms where coordinates say 28 or 120."""
    request = make.cluster(pair(make))
    far = {
        f"{site}-{k}": {"delay_ms": 300.0, "age_s": 0.0}
        for site in ("europe-west1", "us-east1")
        for k in (1, 2)
    }
    near = tuple(make.reading(f"{SITE}-{k}", SITE, 0.0, links=far) for k in (1, 2, 3))
    for _ in range(3):
        metered.plan(replace(request, readings=(*near, *request.readings[3:])))
    (event,) = metered.events(NAMES)
    assert event["faults"] == ["coordinates contradict direct links: medians between sites stand in for them"]
    assert metered.counts() == {FaultKind.COORDINATES_CONTRADICTORY: 3}


def test_an_uncertain_coordinate_is_counted_but_no_news(make, metered):
    """Every agent's is, in its first minute: status lines count them."""
    for _ in range(3):
        metered.plan(of_one_host(make, error=0.61))
    assert metered.events(NAMES) == []
    assert metered.counts() == {FaultKind.COORDINATES_UNCERTAIN: 3}


def test_a_clock_that_jumps_is_named_once_and_counted_while_it_is_seen(make, metered):
    """Ahead by an hour: off in each round. Back again: one round sees it go back. The reading counts on."""
    request = of_one_host(make, time=3601.0)
    for each in (request, request, of_one_host(make, time=2.0)):
        metered.plan(each)
    ahead, back = metered.events(NAMES)
    assert ahead["faults"] == [f"clock of {HOST} is more than 5 minutes off the other hosts'"]
    assert back["faults"] == [f"clock of {HOST} went back"]
    assert metered.counts() == {FaultKind.CLOCKS_OFF: 2, FaultKind.CLOCKS_BACK: 1}
    assert HOST in gather_data(request, Settings()).readings.by_host


def test_two_agents_of_one_host_are_named_once_and_counted_in_each_round(make, metered):
    """Their sequences take turns: seen from the second step back on."""
    for sequence in (70, 1, 72, 3, 74):
        metered.plan(of_one_host(make, sequence=sequence))
    (event,) = metered.events(NAMES)
    assert event["faults"] == [f"two agents publish for {HOST}, or its agent restarts again and again"]
    assert metered.counts() == {FaultKind.TWO_AGENTS: 2}


@pytest.mark.parametrize(
    ("kind", "readings", "name"),
    [
        ("malformed", [rates(payload=b"{")], "rates of taxi-1 are malformed (not JSON)"),
        ("malformed", [rates(streams=None)], "rates of taxi-1 are malformed (streams: "),
        ("version", [rates(version=2)], "rates of taxi-1 are malformed (version: "),
        ("impossible", [rates(sample_rate=2.0)], "rates of taxi-1 are malformed (sample_rate: "),
        (
            "impossible",
            [rates(window_s=1e-320, sample_rate=1e-10)],
            "rates of taxi-1 are malformed (window_s: ",
        ),
        (
            "impossible",
            [
                rates(
                    executors={
                        "first_task": [2**70],
                        "executed": [1.0],
                        "emitted": [1.0],
                        "execute_ms": [1.0],
                    }
                )
            ],
            "rates of taxi-1 are malformed (executors.first_task.0: ",
        ),
        (
            "impossible",
            [rates(streams=[{**RATES["streams"][0], "rate": float("nan")}])],
            "rates of taxi-1 are malformed (streams.0.rate: ",
        ),
        (
            "impossible",
            [rates(streams=[{**RATES["streams"][0], "rate": -1.0}])],
            "rates of taxi-1 are malformed (streams.0.rate: ",
        ),
        ("foreign", [rates(topology="other")], "rates of taxi-1 say that they are of other"),
        ("stale", [rates(age_ms=181_000)], "rates of taxi-1 are stale"),
    ],
)
def test_bad_rates_leave_the_topology_to_unit_rates(make, metered, kind, readings, name):
    """Named once, counted by kind; the status line says which rates count instead."""
    request = make.cluster(pair(make))
    bad = replace(request, readings=(*request.readings, *readings))
    for _ in range(3):
        (plan,) = metered.plan(bad).plans
        assert "unit rates" in plan.status
    (event,) = metered.events(NAMES)
    (phrase,) = event["faults"]
    assert phrase.startswith(name)
    assert metered.counts() == {f"rates_{kind}": 3}


def test_a_second_reading_of_rates_changes_nothing(make, metered):
    """The first stands."""
    request = make.cluster(pair(make))
    twice = replace(request, readings=(*request.readings, rates(), rates(window_s=20.0)))
    for _ in range(3):
        (plan,) = metered.plan(twice).plans
        assert "; rates measured" in plan.status
    assert [event["faults"] for event in metered.events(NAMES)] == [["rates of taxi-1 occur twice"]]
    assert metered.counts() == {FaultKind.RATES_DUPLICATE: 3}


def test_bad_metadata_and_settings_are_counted_like_readings(make, metered):
    """Two supervisors' sites that are none of their agents', one unknown key."""
    request = make.cluster(make.taxi(settings={"colour": "red"}))
    moved = tuple(
        replace(each, meta={"stormplace.site": "mars"}) if each.host in (HOST, PEER) else each
        for each in request.supervisors
    )
    for _ in range(3):
        metered.plan(replace(request, supervisors=moved))
    (event,) = metered.events(NAMES)
    assert len(event["faults"]) == 3
    assert metered.counts() == {FaultKind.SUPERVISOR_METADATA: 6, FaultKind.TOPOLOGY_SETTINGS: 3}


def test_five_minutes_without_zookeeper_degrade_the_view_step_by_step(make, metered):
    """Thirty-one rounds with readings that grow old: named twice in all, counted each time, nothing moves.

    dataSource is pinned, all others run 28 ms away; the site table knows better places, and readings do not.
    """
    pinned = {
        "pin": {"dataSource": "host:uniroma2-1"},
        "avoid": {"*": ["host:uniroma2-2", "host:uniroma2-3"]},
    }
    pinned["avoid"] |= dict.fromkeys(make.taxi().component_names[1:], "site:uniroma2")
    topology = make.assigned(make.taxi(settings=pinned), [0, *[3] * 4, *[4] * 3])
    roomy = {"stormplace.executors": "4"}
    request = make.cluster(topology)
    request = replace(
        request,
        supervisors=tuple(replace(each, meta=each.meta | roomy) for each in request.supervisors),
    )
    near = {"between": ["uniroma2", "us-east1"], "delay_ms": 1.0}
    table = Settings(network=NetworkSettings(site_delay=(near,)))
    sources, decisions, memory = [], [], NOTHING
    for age_s in range(0, 301, 10):
        aged = tuple(replace(reading, age_ms=age_s * 1000) for reading in request.readings)
        away = replace(request, readings=aged, readings_live=False)
        metered.plan(away)
        done = plan_round(away, table, lambda: 0.0, memory=memory, now_s=float(age_s))
        memory = done.memory
        decisions += [plan.decision for plan in done.response.plans]
        data = gather_data(away, Settings())
        assert no_zero(data)
        sources.append({Provenance(kind).name for kind in data.delays.provenance[~np.eye(7, dtype=bool)]})
    assert sources == [{"COORDINATES"}] * 4 + [{"SITE_TABLE", "UNIFORM"}] * 27
    assert decisions == [Decision.KEEP] * 31
    away, stale = metered.events(NAMES)
    assert away["faults"] == ["readings are not live (no connection to ZooKeeper)"]
    assert stale["faults"] == [
        f"reading of {host} is stale" for host in sorted(s.host for s in request.supervisors)
    ]
    assert metered.counts() == {FaultKind.READINGS_NOT_LIVE: 31, FaultKind.READINGS_STALE: 27 * 7}
    metered.plan(request)
    assert metered.events(NAMES)[-1]["faults"] == []
    assert metered.counts()[FaultKind.READINGS_NOT_LIVE] == 31


def test_every_kind_of_fault_has_a_line_in_the_guide():
    """docs/monitoring.md says what each kind means, and invents none."""
    guide = (Path(__file__).parents[4] / "docs" / "monitoring.md").read_text()
    section = guide.split("### Kinds of faults\n", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\| `([a-z_]+)` \|", section, flags=re.MULTILINE) == list(FaultKind)
