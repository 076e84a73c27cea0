"""Whole applications in one process: what the sinks measure, and what is reported when something is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from topologies.synthetic.journey import parse
from topologies.synthetic.results import Measurements, faults_of
from topologies.synthetic.totals import by_component

if TYPE_CHECKING:
    from collections.abc import Callable

    from topologies.synthetic.results import MeasuredPath, MeasuredStream
    from topologies.synthetic.workload import Workload

DIAMOND = ((0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4))
REPLICATED = (
    *((0, i) for i in (1, 2, 3, 4)),
    *((i, j) for i in (1, 2, 3, 4) for j in (5, 6)),
    *((j, 7) for j in (5, 6)),
)


class Measured:
    """What a run left in Redis, read as the collector reads it."""

    def __init__(self, workload: Workload, entries: list[dict[str, str]]) -> None:
        measurements = Measurements(workload)
        self.arrivals: dict[str, int] = {}
        for entry in entries:
            if "trail" in entry:
                measurements.add(parse(entry["trail"]))
                self.arrivals[entry["sink"]] = self.arrivals.get(entry["sink"], 0) + 1
        self.ended = {entry["end"] for entry in entries if "end" in entry}
        self.totals: dict[str, Any] = {}
        for entry in entries:
            if "end" in entry:
                self.totals |= by_component(entry["totals"])
        self.paths: tuple[MeasuredPath, ...] = measurements.paths()
        self.streams: tuple[MeasuredStream, ...] = measurements.streams(self.totals)
        self.faults = list(faults_of(workload, self.totals, self.arrivals, self.ended))


def test_a_chain_takes_its_work_and_its_delays(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """Each measured tuple arrives once, later by the work of all operators and the delays between them."""
    given = make_workload(((0, 1), (1, 2), (2, 3)), work_ms=3.0, tuples=40)
    storm = cluster(given)
    storm.delay_ms.update({0: 20.0, 1: 5.0, 2: 60.0})
    storm.run()
    measured = Measured(given, storm.entries)
    assert measured.faults == []
    assert measured.arrivals == {"operator_3": 40}
    (path,) = measured.paths
    assert path.delays.p50_ms == pytest.approx(4 * 3.0 + 85.0)
    assert path.delays.p95_ms == path.delays.p50_ms
    assert path.operators == ("operator 0", "operator 1", "operator 2", "operator 3")


def test_the_longest_path_is_the_response_time(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """Of a diamond's paths the one with the greatest delay comes first, whatever the order of arrivals."""
    given = make_workload(DIAMOND, tuples=90)
    storm = cluster(given)
    storm.delay_ms.update({1: 400.0, 5: 30.0})
    storm.run()
    measured = Measured(given, storm.entries)
    assert measured.faults == []
    assert measured.paths[0].operators == ("operator 0", "operator 2", "operator 4")
    assert [path.delays.p50_ms for path in measured.paths] == pytest.approx([406.0, 36.0, 6.0])


@pytest.mark.parametrize("edges", [DIAMOND, REPLICATED, ((0, 1, 10.0), (1, 2, 4.0), (1, 3, 25.0))])
def test_every_stream_has_its_rate_and_its_size(
    cluster: Any, make_workload: Callable[..., Workload], edges: Any
) -> None:
    """Rates below and above what comes in, streams that are divided: each as asked, tuples of equal size."""
    given = make_workload(edges, tuples=600)
    storm = cluster(given)
    storm.run()
    measured = Measured(given, storm.entries)
    assert measured.faults == []
    for asked, got in zip(given.streams, measured.streams, strict=True):
        assert got.sent == pytest.approx(asked.rate * given.duration_s, abs=3)
        assert got.rate == pytest.approx(asked.rate, rel=0.05)
        assert got.tuple_bytes == pytest.approx(asked.tuple_bytes, abs=1)


def test_every_path_of_a_replicated_application_reaches_the_sink(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    """An operator that passes on one of four tuples passes on those of all four ways alike."""
    given = make_workload(REPLICATED, tuples=800)
    storm = cluster(given)
    storm.run()
    paths = Measured(given, storm.entries).paths
    assert len(paths) == 8
    counts = [path.delays.tuples for path in paths]
    assert max(counts) - min(counts) <= 1


def test_nothing_of_the_warm_up_is_measured(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """Tuples before the measured ones flow, and are neither written nor counted."""
    given = make_workload(((0, 1), (1, 2)), tuples=20, warm_up_s=3.0)
    storm = cluster(given)
    began_us = storm.now_us
    storm.run()
    measured = Measured(given, storm.entries)
    assert measured.arrivals == {"operator_2": 20}
    assert measured.streams[0].sent == 20
    assert storm.now_us - began_us > 4_500_000


def test_a_lost_tuple_is_a_fault(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """The counts that come with the end markers show the stream on which it went."""
    given = make_workload(((0, 1), (1, 2)), tuples=20)
    storm = cluster(given)
    storm.drop = lambda stream, values: stream == 1 and values[0] == 7
    storm.run()
    assert Measured(given, storm.entries).faults == [
        "stream operator 1 -> operator 2: 20 tuples sent, 19 received"
    ]


def test_a_lost_end_marker_is_a_fault(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """A sink ends only when all its streams have; the one that waits is named."""
    given = make_workload(DIAMOND, tuples=30)
    storm = cluster(given)
    storm.drop = lambda stream, values: stream == 4 and not values[1]
    storm.run()
    assert Measured(given, storm.entries).faults == ["sink operator_4 has not ended"]


def test_feedback_is_counted_and_ends_where_it_comes(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    """A stream that is not critical has its rate; its tuples are neither worked on nor passed on."""
    given = make_workload(((0, 1), (1, 2)), tuples=40, side=((2, 1, 5.0),))
    storm = cluster(given)
    storm.run()
    measured = Measured(given, storm.entries)
    assert measured.faults == []
    assert measured.arrivals == {"operator_2": 40}
    assert measured.streams[2].sent == 20
    assert len(measured.paths) == 1


def test_the_end_is_written_when_redis_is_back(cluster: Any, make_workload: Callable[..., Workload]) -> None:
    """Arrivals that may be lost are counted and reported; the final entry waits for Redis."""
    given = make_workload(((0, 1),), tuples=5)
    storm = cluster(given)
    storm.redis_is_there = False
    storm.run()
    assert storm.entries == []
    assert any("may be missing there" in error for error in storm.errors)
    storm.redis_is_there = True
    storm.tick()
    (entry,) = storm.entries
    assert by_component(entry["totals"])["operator_1"]["unwritten"] == 5
    assert json.loads(entry["plan"])["tuples"] == 5
    assert Measured(given, storm.entries).faults == ["sink operator_1 took 5 tuples, 0 are in Redis"]


def test_a_source_that_stands_still_skips_and_reports_it(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    """What it could not emit in time is a fault of the run, and an error of the component."""
    given = make_workload(((0, 1),), tuples=100, warm_up_s=0.0)
    storm = cluster(given)
    worked = 0

    def work() -> None:
        nonlocal worked
        worked += 1
        if worked == 20:
            storm.now_us += 7_000_000

    storm.tasks[0].work = work
    storm.run()
    measured = Measured(given, storm.entries)
    (fault,) = measured.faults
    skipped = 100 - measured.arrivals["operator_1"]
    assert 39 <= skipped <= 41
    assert fault == f"source operator 0 was too slow and skipped {skipped} tuples"
    assert f"{skipped} tuples skipped so far" in storm.errors[0]
