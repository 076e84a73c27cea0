"""Measured rates are believed, or their absence has a stated reason; the status line says which count."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

from bridge.readings.rates import read_rates
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.messages import Reading, ReadingKind

STREAM = {"from": "c0", "stream": "default", "to": "c1", "rate": 12.0, "tuple_bytes": 40.0}
EXECUTORS = {
    "first_task": [3, 1, 2],
    "executed": [9.0, 0.0, 3.0],
    "emitted": [0.0, 12.0, 0.0],
    "execute_ms": [2.5, None, 0.5],
}


def reading(name="t", age_ms=12_000, **changes):
    payload = {
        "version": 1,
        "time": 1.0,
        "sequence": 1,
        "lifetime_s": 180.0,
        "topology": name,
        "window_s": 60.0,
        "sample_rate": 0.05,
        "streams": [STREAM],
        "emitted": [{"component": "c0", "stream": "default", "rate": 12.0, "transferred": 12.0}],
        "executors": EXECUTORS,
        "host_pairs": [["a", "b", 12.0]],
        "complete": True,
        "missing": [],
        **changes,
    }
    return Reading(ReadingKind.RATES, name, json.dumps(payload).encode(), age_ms)


def read(make, *readings):
    return read_rates(replace(make.cluster(make.chain("t", [1, 2], [0])), readings=readings))


def test_a_fresh_reading_is_believed(make):
    """Streams, emissions and what executors do arrive as published, executors in the order of tasks."""
    rates = read(make, reading())
    measured = rates.by_topology["t"]
    assert (rates.stale, rates.faults, measured.age_s) == ((), (), 12.0)
    taken = measured.taken["c0", "default", "c1"]
    assert (taken.rate, taken.tuple_bytes) == (12.0, 40.0)
    assert measured.emitted == {("c0", "default"): 12.0}
    assert measured.least_rate == pytest.approx(20 / 60)
    executors = measured.executors(make.chain("t", [1, 2], [0]))
    assert executors.executed.tolist() == [0.0, 3.0, 9.0]
    assert executors.emitted.tolist() == [12.0, 0.0, 0.0]
    assert np.array_equal(executors.execute_ms, [np.nan, 0.5, 2.5], equal_nan=True)


def test_ages_of_workers_need_no_agreement_of_clocks(make):
    """The collector's clock says how long before its reading they began, the shim how old that is."""
    started = [[900, [3, 1]], [940, [2]]]
    for hours in (0, 5):
        later = [[start + 3600 * hours, tasks] for start, tasks in started]
        rates = read(make, reading(age_ms=7_000, time=950.0 + 3600 * hours, started=later))
        assert rates.by_topology["t"].running_s == {1: 57.0, 2: 17.0, 3: 57.0}


def test_when_executors_worked_and_were_ready_is_read_likewise(make):
    """A collector that says nothing of it is not one that saw none work."""
    began = {"started": [[900, [1, 2]]], "worked": [[920, [1]]], "ready": [[910, [2]]]}
    measured = read(make, reading(age_ms=7_000, time=950.0, **began)).by_topology["t"]
    assert (measured.worked_s, measured.ready_s) == ({1: 37.0}, {2: 47.0})
    measured = read(make, reading(started=[[900, [1]]], worked=[])).by_topology["t"]
    assert (measured.worked_s, measured.ready_s) == ({}, {})


def test_a_reading_of_an_older_collector_names_no_starts(make):
    """Nor when executors worked, nor a time to acknowledge."""
    measured = read(make, reading()).by_topology["t"]
    assert (measured.running_s, measured.worked_s, measured.complete_ms) == ({}, None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"started": [[-5, [1]]]},
        {"started": [[5, 1]]},
        {"worked": [[-5, [1]]]},
        {"ready": [[5, 1]]},
        {"complete_ms": -1.0},
        {"complete_ms": None},
    ],
)
def test_impossible_starts_and_times_refuse_the_reading(make, change):
    """As any other figure."""
    rates = read(make, reading(**change))
    assert (rates.by_topology, len(rates.faults)) == ({}, 1)


def test_executors_that_are_not_listed_are_unknown_not_idle(make):
    """After a rebalance others may be listed than there are."""
    measured = read(make, reading()).by_topology["t"]
    executed = measured.executors(make.chain("t", [1, 1], [0], tasks_per_executor=2)).executed
    assert np.array_equal(executed, [0.0, 9.0])
    executed = measured.executors(make.chain("t", [4, 2], [0])).executed
    assert np.isnan(executed[3:]).all()


@pytest.mark.parametrize(("age_ms", "stale"), [(180_000, False), (180_001, True)])
def test_rates_older_than_their_lifetime_are_missing(make, age_ms, stale):
    """And named as stale."""
    rates = read(make, reading(age_ms=age_ms))
    assert rates.stale == (("t",) if stale else ())
    assert ("t" in rates.by_topology) is not stale


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version"),
        ({"topology": "other"}, "say that they are of other"),
        ({"streams": [{**STREAM, "rate": -1.0}]}, "streams.0.rate"),
        ({"streams": [{**STREAM, "rate": float("nan")}]}, "streams.0.rate"),
        ({"streams": [{**STREAM, "rate": 1e13}]}, "streams.0.rate"),
        ({"streams": [{**STREAM, "tuple_bytes": -1.0}]}, "tuple_bytes"),
        ({"emitted": [{"component": "c0", "stream": "default"}]}, "emitted.0.rate"),
        ({"sample_rate": 0.0}, "sample_rate"),
        ({"sample_rate": 1.1}, "sample_rate"),
        ({"sample_rate": 9e-7}, "sample_rate"),
        ({"window_s": 0.9}, "window_s"),
        ({"window_s": 1.1e6}, "window_s"),
        ({"window_s": 1e-320, "sample_rate": 1e-10}, "window_s"),
        ({"executors": {**EXECUTORS, "executed": [1.0]}}, "not parallel"),
        ({"executors": {**EXECUTORS, "first_task": [1, 1, 2]}}, "occurs twice"),
        ({"executors": {**EXECUTORS, "execute_ms": [-1.0, None, None]}}, "execute_ms.0"),
        ({"executors": {**EXECUTORS, "first_task": [2**31, 1, 2]}}, "first_task.0"),
        ({"executors": {**EXECUTORS, "first_task": [2**70, 1, 2]}}, "first_task.0"),
        ({"executors": {**EXECUTORS, "first_task": [3, -1, 2]}}, "first_task.1"),
        ({"complete": "yes"}, "complete"),
        ({"busy": [{"component": "c1", "percent": -1.0}]}, "busy.0.percent"),
        ({"busy": [{"component": "c1", "percent": float("nan")}]}, "busy.0.percent"),
        ({"busy": [{"component": "c1", "percent": 1e10}]}, "busy.0.percent"),
        ({"busy": {"c1": 1.0}}, "busy"),
    ],
)
def test_impossible_rates_are_a_fault(make, changes, message):
    """None of them is used, and the fault names topology and field."""
    rates = read(make, reading(**changes))
    assert rates.by_topology == {}
    (fault,) = rates.faults
    assert fault.startswith("rates of t ")
    assert message in fault


@pytest.mark.parametrize(
    "changes",
    [
        {"sequence": "first"},
        {"host_pairs": None},
        {"emitted": [{"component": "c0", "stream": "default", "rate": 12.0, "transferred": "12"}]},
        {"later": "key"},
    ],
)
def test_what_the_daemon_does_not_read_costs_no_reading(make, changes):
    """Agents read the pairs of hosts; a later collector may add keys."""
    rates = read(make, reading(**changes))
    assert (rates.by_topology.keys(), rates.faults) == ({"t"}, ())


def test_the_extremes_of_what_is_possible_are_believed(make):
    """One tuple of a million in a second, a topology of as many tasks as Storm can number."""
    widest = {**EXECUTORS, "first_task": [2**31 - 1, 0, 2]}
    measured = read(make, reading(window_s=1.0, sample_rate=1e-6, executors=widest)).by_topology["t"]
    assert measured.least_rate == pytest.approx(1e6)
    assert measured.first_task.tolist() == [0, 2, 2**31 - 1]


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff", b"null"])
def test_bytes_that_are_no_rates_are_a_fault(make, payload):
    """Whatever the znode holds."""
    assert len(read(make, replace(reading(), payload=payload)).faults) == 1


def test_packed_rates_are_read_as_their_text_is(make):
    """An older shim passes on what the znode holds."""
    packed = replace(reading(), payload=zlib.compress(reading().payload))
    (measured,) = read(make, packed).by_topology.values()
    (plain,) = read(make, reading()).by_topology.values()
    assert (measured.taken, measured.first_task.tolist()) == (plain.taken, plain.first_task.tolist())


def test_rates_that_cannot_be_unpacked_are_named(make):
    """What is wrong with them, and of which topology."""
    cut = replace(reading(), payload=zlib.compress(reading().payload)[:-1])
    assert read(make, cut).faults == ("rates of t are malformed (packed content ends too early)",)


def test_second_and_foreign_rates_do_not_count(make):
    """The first of two stands; those of a topology that is not there are no fault."""
    rates = read(make, reading(), reading(age_ms=0), reading("gone"))
    assert rates.by_topology["t"].age_s == 12.0
    assert rates.faults == ("rates of t occur twice",)


@pytest.mark.parametrize(
    ("readings", "settings", "phrase"),
    [
        ([], {}, "unit rates"),
        ([], {"rates": {"c0": 5}}, "declared rates"),
        ([reading()], {}, "rates measured"),
        ([reading()], {"rates": {"c0": 5}}, "rates measured"),
        ([reading(age_ms=181_000)], {}, "unit rates (the measured ones are stale)"),
        ([reading(age_ms=181_000)], {"rates": {"c0": 5}}, "declared rates (the measured ones are stale)"),
        (
            [reading(complete=False, missing=["c1[4]"])],
            {},
            "rates measured (1 of 4 executors without statistics)",
        ),
        (
            [reading(complete=False, missing=["c1[3]"], executors=None)],
            {},
            "rates measured (1 executor without statistics)",
        ),
        (
            [reading(complete=False, missing=["x"] * 20, executors=None)],
            {},
            "rates measured (at least 20 executors without statistics)",
        ),
    ],
)
def test_the_status_line_says_which_rates_count(make, readings, settings, phrase):
    """Measured, else declared, else unit rates; and how much is missing."""
    topology = make.chain("t", [1, 3], [0])
    text = json.dumps({f"topology.stormplace.{key}": value for key, value in settings.items()})
    request = make.cluster(replace(topology, settings_json=text))
    request = replace(request, readings=(*request.readings, *readings))
    done = plan_round(request, Settings(), lambda: 0.0)
    assert done.response.plans[0].status.split("; ")[-1] == phrase


def test_the_hours_to_come_are_those_after_now(make):
    """A reading that was published before the hour changed is about the hour before."""

    def known(second, age_s):
        ahead = reading(age_ms=age_s * 1000, time=7200.0 + second, hours_ahead=[2.0, None, 4.0])
        measured = read(make, ahead).by_topology["t"]
        return measured.hours_ahead, measured.hour_left_s

    assert known(600, 30) == ((2.0, None, 4.0), 2970.0)
    assert known(3590, 30) == ((None, 2.0), 3580.0)
    assert read(make, reading()).by_topology["t"].hours_ahead == ()


def test_where_the_present_hour_is_not_known_no_hour_is(make):
    """What follows is stated against it."""
    late = reading(age_ms=30_000, time=7200.0 + 3590.0, hours_ahead=[None, 4.0])
    assert read(make, late).by_topology["t"].hours_ahead == ()
