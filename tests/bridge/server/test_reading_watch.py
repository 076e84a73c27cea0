"""Jumping clocks and second agents are seen by following readings, and every fault is logged once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.readings.believed import NodeReading
from bridge.server.fault_log import FORGOTTEN_AFTER_S, FaultLog
from bridge.server.reading_watch import ReadingWatch
from bridge.wire.structs import to_thrift

TWO_AGENTS = {"two_agents": ("two agents publish for a, or its agent restarts again and again",)}


def follow(*readings, every_s=10.0):
    """What is odd about each of these (sequence, time) of host a, one per round; None where it is absent."""
    watch = ReadingWatch()
    return [watch.observe(of_a(reading), k * every_s) for k, reading in enumerate(readings)]


def of_a(reading):
    """The readings of a round that has a's alone, if any."""
    if reading is None:
        return {}
    sequence, time_s = reading
    return {"a": NodeReading("a", None, None, 1.0, sequence=sequence, time_s=time_s)}


def test_readings_that_go_on_or_stand_still_are_not_odd():
    """Rounds may come more often than readings."""
    assert follow((1, 100.0), (3, 110.0), (3, 110.0), (5, 120.0)) == [{}] * 4


def test_one_restart_of_an_agent_is_not_odd():
    """It counts from 1 again, and its clock goes on."""
    assert follow((70, 100.0), (1, 110.0), (3, 120.0)) == [{}] * 3


def test_two_agents_that_take_turns_are_named():
    """The second step back within five minutes shows them, and they stay named while it is so."""
    found = follow((70, 100.0), (1, 105.0), (72, 110.0), (3, 115.0), (4, 120.0))
    assert found == [{}, {}, {}, TWO_AGENTS, TWO_AGENTS]


def test_restarts_far_apart_are_not_two_agents():
    """200 s per round: the first step back is forgotten."""
    assert follow((70, 100.0), (1, 105.0), (72, 110.0), (3, 115.0), every_s=200.0) == [{}] * 4


def test_an_agent_that_restarts_and_is_absent_between_is_named():
    """Every 20 s, seen in every second round: its sequence goes back, or comes to the same number again."""
    found = follow((4, 100.0), None, (2, 120.0), None, (2, 140.0), None, (1, 160.0))
    assert found == [{}, {}, {}, {}, TWO_AGENTS, {}, TWO_AGENTS]


def test_a_host_that_was_absent_for_long_begins_anew():
    """Five minutes and more: nothing is left of it, else names that come and go would pile up."""
    watch = ReadingWatch()
    rounds = [(0.0, (70, 100.0)), (1.0, (1, 101.0)), (301.0, None), (301.1, (70, 400.0)), (302.0, (1, 401.0))]
    assert [watch.observe(of_a(reading), now_s) for now_s, reading in rounds] == [{}] * 5
    rounds = [(602.0, None), (602.1, (70, 100.0))]
    assert [watch.observe(of_a(reading), now_s) for now_s, reading in rounds] == [{}] * 2


def test_a_round_that_comes_late_tells_nothing_about_order():
    """It began before the last one: its readings are the older ones."""
    watch = ReadingWatch()
    for now_s in range(10, 60, 10):
        assert watch.observe(of_a((now_s, 100.0 + now_s)), now_s) == {}
        assert watch.observe(of_a((now_s - 5, 95.0 + now_s)), now_s - 5) == {}


def test_a_clock_that_goes_back_is_named():
    """In the round that sees it."""
    assert follow((1, 100.0), (2, 40.0), (3, 50.0)) == [{}, {"clocks_back": ("clock of a went back",)}, {}]


@pytest.mark.parametrize(("ahead_s", "named"), [(299.0, False), (301.0, True), (-301.0, True)])
def test_a_clock_far_from_the_others_is_named(ahead_s, named):
    """Readings of different age are made comparable first."""
    hosts = {"a": (0.0, 0.0), "b": (-20.0, 20.0), "c": (ahead_s, 0.0)}
    readings = {
        host: NodeReading(host, None, None, 1.0, time_s=1e6 + time_s, age_s=age_s)
        for host, (time_s, age_s) in hosts.items()
    }
    kinds = {"clocks_off": ("clock of c is more than 5 minutes off the other hosts'",)}
    assert ReadingWatch().observe(readings, 0.0) == (kinds if named else {})


def test_a_fault_is_logged_once_until_it_was_away_for_long():
    """New faults alone are logged, the end of all once, and one that comes and goes is not new."""
    log = FaultLog()
    assert log.news(["x"], 0.0) == ("x",)
    assert log.news(["x", "y", "y"], 1.0) == ("y",)
    assert log.news(["y"], 2.0) is None
    assert log.news([], 3.0) == ()
    assert log.news([], 4.0) is None
    assert log.news(["x"], 5.0) is None
    assert log.news([], 6.0) is None
    assert log.news(["x"], 6.0 + FORGOTTEN_AFTER_S) == ("x",)


def test_faulty_readings_are_named_once_and_counted_in_every_round(make, daemon):
    """Impossible, malformed and of a wrong clock: of three rounds one line names, three count."""
    request = make.cluster()
    first = make.reading(
        "uniroma2-1", "uniroma2", 0.0, links={"uniroma2-2": {"delay_ms": -1.0, "age_s": 0.0}}
    )
    bad = make.reading("uniroma2-2", "uniroma2", 0.0, availability=2.0)
    client = daemon.client()
    for time_s in (1e6, 1e6, 1e6):
        ahead = make.reading("uniroma2-3", "uniroma2", 0.0, time=time_s)
        client.plan(to_thrift(replace(request, readings=(first, bad, ahead, *request.readings[3:]))))
    client.close()
    (event,) = daemon.events("faults in readings, metadata or settings")
    assert [fault.split(" (")[0] for fault in event["faults"]] == [
        "reading of uniroma2-2 is malformed",
        "reading of uniroma2-1 holds an impossible link",
        "clock of uniroma2-3 is more than 5 minutes off the other hosts'",
    ]
    rounds = daemon.events("round")
    once = {"readings_impossible": 1, "links_impossible": 1, "clocks_off": 1}
    assert [each["faults"] for each in rounds] == [once] * 3
    assert rounds[-1]["faults_since_start"] == dict.fromkeys(sorted(once), 3)
