"""What agents and the rates collector publish is what the planner reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.readings.node_payload import parse_node
from bridge.readings.rates import read_rates
from bridge.wire.messages import Reading, ReadingKind
from monitoring import reading as published
from monitoring.coordinate import Coordinate
from monitoring.rates.counters import ExecutorLook, Stream
from monitoring.rates.history import Window
from monitoring.rates.rates_json import to_json
from monitoring.rates.rates_reading import Rates
from monitoring.reading import Link, Load, WorkerCpu

SPOUT = Stream("c0", "default")


def test_an_agents_reading_is_read_with_its_links():
    """Delay, age and availability of each link, and nothing of it is at fault."""
    content = published.to_json(
        published.Reading(
            time_s=1000.0,
            sequence=7,
            lifetime_s=30.0,
            host="a",
            site="rome",
            coordinate=Coordinate((1.0, 2.0), 0.5, 0.1),
            availability=0.99,
            outages=published.Outages(0.0, None),
            load=Load(0.1, 0.2, 0.3, None, None),
            links={
                "b": Link(
                    delay_ms=22.04, age_s=3.1, delay_age_s=4.0, samples=5, loss=0.0, availability=0.9991
                )
            },
            probe=published.Address("10.0.0.1", 7091),
            workers=(WorkerCpu(6700, "taxi-1", 31.6), WorkerCpu(6701, "taxi-1", 1.0, {"ab": 2.0})),
        )
    )
    parsed = parse_node(content)
    assert (parsed.bad_links, parsed.bad_figures) == ((), ())
    fields = parsed.fields
    assert (fields["host"], fields["sequence"], fields["probe"]) == ("a", 7, "10.0.0.1:7091")
    assert fields["links"]["b"] == {
        "delay_ms": 22.04,
        "age_s": 3.1,
        "delay_age_s": 4.0,
        "samples": 5,
        "loss": 0.0,
        "availability": 0.9991,
    }
    assert fields["workers"] == [
        {"port": 6700, "topology": "taxi-1", "percent": 31.6},
        {"port": 6701, "topology": "taxi-1", "percent": 1.0, "children": {"ab": 2.0}},
    ]


def test_a_collectors_reading_is_read_with_its_executors(make):
    """Rates of streams, what executors do, and how much one counted tuple stands for."""
    window = Window(60.0, {"default": 12.0}, {"default": 12.0}, {}, None, 20.0)
    taking = Window(60.0, {}, {}, {SPOUT: 12.0}, 2.5, 20.0)
    looks = [ExecutorLook(f"c{index}", index + 1, index + 1, "h", 6700, None) for index in range(2)]
    rates = Rates(
        window_s=60.0,
        sample_rate=0.05,
        streams=((SPOUT, "c1", 12.0),),
        emitted=((SPOUT, 12.0, 12.0),),
        executors=((looks[0], window), (looks[1], taking)),
        host_pairs=(("h", "i", 12.0),),
        missing=("c1[3]",),
        busy={"c1": 31.6},
        started=((100.2, 2), (100.4, 1), (20.0, 3)),
        complete_ms=12.34,
    )
    content = Reading(ReadingKind.RATES, "t", to_json("t", rates, 1000.0, 3, (2.0, None)), 5_000)
    request = replace(make.cluster(make.chain("t", [1, 2], [0])), readings=(content,))
    read = read_rates(request)
    assert read.faults == ()
    measured = read.by_topology["t"]
    assert measured.taken["c0", "default", "c1"].rate == 12.0
    assert measured.emitted == {("c0", "default"): 12.0}
    assert measured.least_rate == pytest.approx(1 / 3)
    assert measured.listed.execute_ms[1] == 2.5
    assert measured.busy == {"c1": 31.6}
    assert measured.running_s == {1: 105.0, 2: 105.0, 3: 25.0}
    assert measured.complete_ms == 12.34
    assert measured.hours_ahead == (2.0, None)
    assert measured.summary(request.topologies[0]) == ("rates measured (1 of 3 executors without statistics)")
