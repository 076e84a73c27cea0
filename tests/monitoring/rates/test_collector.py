"""Rules of following topologies, with a scripted Nimbus and a scripted clock."""

from __future__ import annotations

from typing import Any

import pytest

from formats.partners_reading import shard_of
from tests.monitoring.rates.scripted_nimbus import Scene


@pytest.fixture
def scene(fake_clock: Any, log: Any) -> Scene:
    return Scene(fake_clock, log)


def test_a_reading_appears_with_the_second_rendering(scene: Scene) -> None:
    """Two renderings make a rate; before them there is no reading, also none of zeros."""
    scene.run(50)
    assert scene.reading() is None
    scene.run(60)
    reading = scene.reading()
    assert reading is not None
    assert reading["streams"] == [
        {"from": "spout", "stream": "default", "to": "bolt", "rate": 20.0, "tuple_bytes": None}
    ]
    assert reading["executors"]["execute_ms"] == [None, 1.0, 1.0]
    assert (reading["complete"], reading["time"], reading["sequence"]) == (True, 1e9 + 60, 1)
    assert scene.log.names() == ["rates-complete"]
    assert scene.nimbus.shapes == 1


def test_a_reading_is_written_once_per_refresh(scene: Scene) -> None:
    """Its time is that of the statistics, so looks that show nothing new do not renew it."""
    scene.run(290)
    assert scene.nodes.writes == 8
    reading = scene.reading()
    assert reading is not None
    assert reading["time"] == 1e9 + 270


def test_a_whole_reading_outlives_a_torn_one(scene: Scene) -> None:
    """A restarted worker has no statistics for a while: the last whole reading stays, then the torn one."""
    scene.run(120)
    scene.nimbus.started_s["bolt-1"] = 115.0
    scene.run(170)
    reading = scene.reading()
    assert reading is not None
    assert (reading["complete"], reading["time"]) == (True, 1e9 + 120)
    assert scene.log.names() == ["rates-complete", "rates-incomplete"]
    scene.run(180)
    reading = scene.reading()
    assert reading is not None
    assert (reading["complete"], reading["time"]) == (True, 1e9 + 180)
    assert scene.log.names() == ["rates-complete", "rates-incomplete", "rates-complete"]


def test_a_reading_names_the_executors_that_began_lately_with_their_start(scene: Scene) -> None:
    """After 15 minutes none; a restarted one again, when its statistics are whole."""
    scene.run(120)
    ((start, tasks),) = scene.reading()["started"]  # type: ignore[index]
    assert (start, tasks) == (pytest.approx(1e9, abs=6), [1, 2, 3])
    scene.run(1000)
    assert "started" not in scene.reading()  # type: ignore[operator]
    scene.nimbus.started_s["bolt-2"] = 1005.0
    scene.run(1100)
    reading = scene.reading()
    assert reading is not None
    for began in ("started", "worked"):
        ((start, tasks),) = reading[began]
        assert (start, tasks) == (pytest.approx(1e9 + 1005, abs=6), [3])


def test_a_torn_reading_comes_when_the_whole_one_is_old(scene: Scene) -> None:
    """It names who is missing, and does not count him as zero."""
    scene.run(120)
    scene.nimbus.started_s["bolt-1"] = 1e9
    scene.run(200)
    assert scene.reading()["complete"]  # type: ignore[index]
    scene.run(210)
    reading = scene.reading()
    assert reading is not None
    assert reading["missing"] == ["bolt[2]"]
    assert reading["streams"][0]["rate"] == 20.0
    assert reading["executors"]["first_task"] == [1, 3]


def test_a_new_topology_has_time_for_a_whole_reading(scene: Scene) -> None:
    """Its executors do not start together: parts of it are published only if the rest does not come."""
    scene.nimbus.started_s["bolt-1"] = 25.0
    scene.run(80)
    assert scene.reading() is None
    scene.run(90)
    reading = scene.reading()
    assert reading is not None
    assert reading["complete"]


def test_without_nimbus_nothing_is_forgotten_and_nothing_published(scene: Scene) -> None:
    """Minutes without Nimbus are logged once; the first refresh after them gives a reading again."""
    scene.run(120)
    scene.nimbus.trouble = "nimbus:6627: connection refused"
    writes = scene.nodes.writes
    scene.run(420)
    assert scene.nodes.writes == writes
    scene.nimbus.trouble = ""
    scene.run(430)
    reading = scene.reading()
    assert reading is not None
    assert reading["streams"][0]["rate"] == 20.0
    assert reading["complete"]
    assert scene.log.names() == ["rates-complete", "nimbus-silent", "nimbus-answers-again"]
    assert scene.collector.figures().failed_looks == 30


def test_unusable_statistics_are_named_once_and_counted(scene: Scene) -> None:
    """The executor counts as missing for as long."""
    scene.nimbus.faults["bolt-2"] = "emitted is missing"
    scene.run(120)
    reading = scene.reading()
    assert reading is not None
    assert reading["missing"] == ["bolt[3]"]
    assert reading["streams"][0]["rate"] == 20.0
    assert scene.log.names() == ["statistics-unusable", "rates-incomplete"]
    _, fields = scene.log.events[0]
    assert fields == {
        "topology": "taxi-1",
        "reason": "emitted is missing",
        "executors": 1,
        "named": ("bolt[3]",),
    }
    assert scene.collector.figures().faults == {"missing": 12}


@pytest.mark.parametrize("status", ["INACTIVE", "KILLED", None])
def test_a_topology_that_does_not_run_loses_its_reading(scene: Scene, status: str | None) -> None:
    """Killed, deactivated or gone: what it did says nothing any more."""
    scene.run(120)
    scene.nimbus.statuses = {} if status is None else {"taxi-1": status}
    scene.run(130)
    assert scene.reading() is None
    scene.nimbus.statuses = {"taxi-1": "ACTIVE"}
    scene.run(140)
    assert scene.reading() is None
    scene.run(150)
    reading = scene.reading()
    assert reading is not None
    assert reading["window_s"] == 30  # its history was forgotten with it


def test_a_topology_that_is_rebalanced_keeps_its_reading(scene: Scene) -> None:
    """Its spouts rest meanwhile, which is no rate to plan with."""
    scene.run(120)
    scene.nimbus.statuses["taxi-1"] = "REBALANCING"
    writes = scene.nodes.writes
    scene.run(180)
    assert scene.reading() is not None
    assert scene.nodes.writes == writes


def test_hosts_that_exchange_tuples_find_each_other_until_the_rates_are_old(scene: Scene) -> None:
    """The partners go with the topology; a Nimbus that is silent leaves them as they are."""
    path = f"/s/partners/{shard_of('a')}"
    scene.nimbus.hosts = {"bolt-1": "b"}
    scene.run(120)
    assert scene.nodes.now[path]["partners"]["a"] == ["b"]
    scene.nimbus.trouble = "nimbus:6627: connection refused"
    time = scene.nodes.now[path]["time"]
    scene.run(600)
    assert scene.nodes.now[path]["time"] == time
    scene.nimbus.trouble = ""
    scene.nimbus.statuses["taxi-1"] = "REBALANCING"  # its last reading stays, and is too old by now
    scene.run(610)
    assert path not in scene.nodes.now


def test_a_topology_that_vanishes_during_a_look_is_forgotten(scene: Scene) -> None:
    """Nimbus listed it and then did not know it: no fault of Nimbus."""
    scene.run(120)
    scene.nimbus.gone = True
    scene.run(130)
    assert scene.reading() is None
    assert scene.log.names() == ["rates-complete"]
