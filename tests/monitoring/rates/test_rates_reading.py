"""Rules of adding up executors' rates to a topology's reading."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.rates_reading import STARTED_S
from monitoring.host_pairs import NamedPairs
from monitoring.rates import rates_json
from monitoring.rates.counters import ACKED, ACKER, ExecutorLook, Shape, Stream
from monitoring.rates.history import Window
from monitoring.rates.rates_json import to_json
from monitoring.rates.rates_reading import Measured, Rates, derive

SPOUT = Stream("spout", "default")
BOLT = Stream("bolt", "default")
SHAPE = Shape({"spout": (), "bolt": (SPOUT,), "sink": (BOLT,)}, frozenset({"spout"}))


def executor(
    component: str,
    task: int,
    host: str = "a",
    *,
    taken: dict[Stream, float] | None = None,
    sent: float = 0.0,
    known: bool = True,
    tasks: int = 1,
    step: float = 1.0,
    busy: float | None = None,
) -> Measured:
    sending = {"default": sent}
    window = Window(60.0, sending, sending, taken or {}, None, step, busy) if known else None
    return Measured(ExecutorLook(component, task, task + tasks - 1, host, 6700, None), window)


def rates(shape: Shape, *measured: Measured) -> Rates:
    found = derive(shape, measured)
    assert found is not None
    return found


def chain(**changes: Any) -> list[Measured]:
    return [
        executor("spout", 5, sent=30.0),
        executor("bolt", 1, taken={SPOUT: 10.0}, sent=10.0, host="b", **changes),
        executor("bolt", 2, taken={SPOUT: 20.0}, sent=20.0, host="c"),
        executor("sink", 3, taken={BOLT: 30.0}, host="a"),
    ]


def test_a_streams_rate_is_what_its_takers_executed() -> None:
    """Executors of one component add up."""
    found = rates(SHAPE, *chain())
    assert found.streams == ((BOLT, "sink", 30.0), (SPOUT, "bolt", 30.0))
    assert found.emitted == ((BOLT, 30.0, 30.0), (Stream("sink", "default"), 0.0, 0.0), (SPOUT, 30.0, 30.0))
    assert found.complete


def test_a_subscription_without_tuples_has_rate_zero() -> None:
    """Statistics that hold no such counter say that nothing came."""
    shape = Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"}))
    found = rates(shape, executor("spout", 2), executor("bolt", 1))
    assert found.streams == ((SPOUT, "bolt", 0.0),)


def test_a_missing_executor_counts_as_the_mean_of_its_sisters() -> None:
    """By tasks, never as zero; and it is named."""
    found = rates(SHAPE, *chain(known=False, tasks=3))
    assert (SPOUT, "bolt", 80.0) in found.streams
    assert found.missing == ("bolt[1]",)
    assert not found.complete
    assert [look.first_task for look, _ in found.executors] == [2, 3, 5]


def test_a_component_without_statistics_leaves_its_streams_out() -> None:
    """What was not measured is not in the reading; a component that runs nowhere is named."""
    spout, *_ = chain()
    found = rates(SHAPE, spout, executor("bolt", 1, known=False))
    assert found.streams == ()
    assert [stream.component for stream, _, _ in found.emitted] == ["spout"]
    assert found.missing == ("sink", "bolt[1]")


def test_without_any_statistics_there_is_no_reading() -> None:
    """Nothing known is None, no reading full of zeros."""
    assert derive(SHAPE, [executor("bolt", 1, known=False)]) is None


def test_a_spout_takes_of_the_ackers_what_ended_its_trees() -> None:
    """Ackers' streams are measured at spouts as far as Storm counts them there."""
    acked, reset = Stream(ACKER, ACKED), Stream(ACKER, "__ack_reset_timeout")
    shape = Shape({"spout": (acked, reset), ACKER: (Stream("spout", "__ack_init"),)}, frozenset({"spout"}))
    found = rates(
        shape,
        executor("spout", 2, taken={acked: 7.0}),
        executor(ACKER, 1, taken={Stream("spout", "__ack_init"): 7.0}),
    )
    assert found.streams == ((acked, "spout", 7.0), (Stream("spout", "__ack_init"), ACKER, 7.0))


def test_pairs_of_hosts_share_what_is_taken_by_what_is_sent() -> None:
    """Busiest first, both ways together, nothing within a host."""
    found = rates(SHAPE, *chain())
    assert found.host_pairs == (("a", "c", 40.0), ("a", "b", 20.0))


@pytest.mark.parametrize("known", [True, False])
def test_a_source_of_which_nothing_is_known_sends_evenly(*, known: bool) -> None:
    """What is taken comes from somewhere: by tasks, where no source has sent anything or has statistics."""
    shape = Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"}))
    sources = (executor("spout", 1, "a", known=known), executor("spout", 2, "b", known=known, tasks=3))
    found = rates(shape, *sources, executor("bolt", 5, "c", taken={SPOUT: 8.0}))
    assert found.host_pairs == (("b", "c", 6.0), ("a", "c", 2.0))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1e6), st.booleans()), min_size=2, max_size=8))
def test_no_traffic_is_lost_between_hosts(executors: list[tuple[str, float, bool]]) -> None:
    """Traffic of all pairs of hosts is what is taken, less what stays within a host."""
    measured = []
    for task, (host, rate, is_source) in enumerate(executors):
        if is_source:
            measured.append(executor("spout", task, host, sent=rate))
        else:
            measured.append(executor("bolt", task, host, taken={SPOUT: rate}))
    shape = Shape({"spout": (), "bolt": (SPOUT,)}, frozenset({"spout"}))
    found = rates(shape, *measured)
    sources = [(host, rate) for host, rate, is_source in executors if is_source]
    takers = [(host, rate) for host, rate, is_source in executors if not is_source]
    sent = sum(rate for _, rate in sources)
    expected = 0.0
    for source, out in sources:
        share = out / sent if sent > 0 else 1 / len(sources)
        expected += sum(share * rate for taker, rate in takers if taker != source)
    assert sum(rate for _, _, rate in found.host_pairs) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_reading_has_the_published_form() -> None:
    """Every key of version 1, in tuples per second; bytes are not measured by Storm."""
    measured = [*chain(), executor("bolt", 4, known=False)]
    reading = json.loads(to_json("taxi-1-2", rates(SHAPE, *measured), 1000.5, 3))
    assert reading == {
        "version": 1,
        "time": 1000.5,
        "sequence": 3,
        "lifetime_s": 180.0,
        "topology": "taxi-1-2",
        "window_s": 60.0,
        "sample_rate": 1.0,
        "streams": [
            {"from": "bolt", "stream": "default", "to": "sink", "rate": 30.0, "tuple_bytes": None},
            {"from": "spout", "stream": "default", "to": "bolt", "rate": 45.0, "tuple_bytes": None},
        ],
        "emitted": [
            {"component": "bolt", "stream": "default", "rate": 45.0, "transferred": 45.0},
            {"component": "sink", "stream": "default", "rate": 0.0, "transferred": 0.0},
            {"component": "spout", "stream": "default", "rate": 30.0, "transferred": 30.0},
        ],
        "executors": {
            "first_task": [1, 2, 3, 5],
            "executed": [10.0, 20.0, 30.0, 0.0],
            "emitted": [10.0, 20.0, 0.0, 30.0],
            "execute_ms": [None, None, None, None],
        },
        "busy": [],
        "host_pairs": [["a", "c", 33.3333], ["a", "b", 16.6667]],
        "complete": False,
        "missing": ["bolt[4]"],
    }


def test_a_component_is_as_busy_as_its_executors_together() -> None:
    """One without statistics counts as the mean of the others by tasks; the spout is not timed."""
    found = rates(
        SHAPE,
        executor("spout", 7),
        executor("bolt", 1, busy=10.0),
        executor("bolt", 2, busy=20.0, tasks=2),
        executor("bolt", 4, known=False, tasks=2),
        executor("sink", 6, busy=0.0),
    )
    assert found.busy == pytest.approx({"bolt": 50.0, "sink": 0.0})
    published = json.loads(to_json("t", found, 0.0, 1))["busy"]
    assert published == [{"component": "bolt", "percent": 50.0}, {"component": "sink", "percent": 0.0}]


def test_only_executors_whose_worker_began_lately_are_named() -> None:
    """By the second in which that was; most readings name none and are no longer than before."""
    spout, bolt, other, sink = chain()
    old = [replace(each, running_s=STARTED_S + task) for task, each in enumerate((spout, bolt, other, sink))]
    assert "started" not in json.loads(to_json("t", rates(SHAPE, *old), 1000.0, 1))
    lately = [replace(bolt, running_s=20.2), replace(other, running_s=19.9), replace(sink, running_s=7.0)]
    reading = json.loads(to_json("t", rates(SHAPE, old[0], *lately), 1000.0, 1))
    assert reading["started"] == [[980, [1, 2]], [993, [3]]]
    assert (reading["worked"], "ready" in reading) == ([], False)


def test_of_these_it_is_said_when_they_worked_and_when_they_were_ready() -> None:
    """Where that is known; of others that began long ago it is not."""
    spout, bolt, other, sink = chain()
    old = replace(spout, running_s=STARTED_S + 1.0, worked_s=STARTED_S, ready_s=STARTED_S)
    bolt = replace(bolt, running_s=20.2, worked_s=4.1)
    other, sink = replace(other, running_s=19.9, ready_s=12.0), replace(sink, running_s=7.0, worked_s=3.9)
    reading = json.loads(to_json("t", rates(SHAPE, old, bolt, other, sink), 1000.0, 1))
    assert (reading["worked"], reading["ready"]) == ([[996, [1, 3]]], [[988, [2]]])


def test_the_time_to_acknowledge_is_the_mean_of_all_trees() -> None:
    """A busy spout counts as much as its trees are many; one that acknowledges nothing does not."""
    shape = Shape({"spout": (Stream(ACKER, ACKED),)}, frozenset({"spout"}))

    def spout(task: int, acked: float, ms: float | None) -> Measured:
        one = executor("spout", task, taken={Stream(ACKER, ACKED): acked})
        assert one.window is not None
        return replace(one, window=replace(one.window, complete_ms=ms))

    found = rates(shape, spout(1, 30.0, 10.0), spout(2, 10.0, 50.0), spout(3, 0.0, None))
    assert json.loads(to_json("t", found, 0.0, 1))["complete_ms"] == 20.0
    assert "complete_ms" not in json.loads(to_json("t", rates(shape, spout(3, 0.0, None)), 0.0, 1))


def test_the_coarsest_sampling_is_published() -> None:
    """A reading is as exact as its worst executor."""
    found = rates(SHAPE, executor("spout", 1), executor("bolt", 2, step=20.0), executor("sink", 3))
    assert found.sample_rate == pytest.approx(0.05)


def test_a_large_topology_fits_a_znode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are cut where they would outgrow a megabyte, the total stays right."""
    monkeypatch.setattr(rates_json, "MAX_EXECUTORS", 3)
    many = [executor("bolt", task, known=False) for task in range(10, 40)]
    reading = json.loads(to_json("t", rates(SHAPE, *chain(), *many), 0.0, 1))
    assert reading["executors"] is None
    assert len(reading["missing"]) == 20


def test_a_reading_of_many_hosts_stays_small() -> None:
    """Every agent reads it each minute: a hundred executors on 32 hosts, all of which exchange tuples."""
    chance = random.Random(0)
    measured = [
        executor(
            name,
            task,
            f"us-east1-{task % 32}",
            taken={} if taken is None else {taken: chance.uniform(1.0, 1000.0)},
            sent=chance.uniform(1.0, 1000.0),
        )
        for task, (name, taken) in enumerate([("spout", None), ("bolt", SPOUT), ("sink", BOLT)] * 33)
    ]
    found = rates(SHAPE, *measured)
    assert len(found.host_pairs) > 450
    bounded = replace(found, host_pairs=NamedPairs().choose(found.host_pairs))
    assert len(to_json("taxi-1-1700000000", bounded, 1.7e9, 1)) < 12_000


def test_a_number_that_is_not_finite_is_never_published() -> None:
    """A fault of the derivation must not reach a reader."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json("t", rates(SHAPE, executor("bolt", 1, taken={SPOUT: float("inf")})), 0.0, 1)
