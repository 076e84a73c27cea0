"""Each edge takes its rate from the best source that it has, and loses or invents no tuple on the way."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.problem.component_flows import ACK_BYTES
from bridge.problem.executor_graph import build_executor_graph
from bridge.readings.rates import Executors, MeasuredRates, Taken
from bridge.settings import PlanSettings
from bridge.wire.messages import ComponentKind, Grouping

PLAN = PlanSettings(unit_rate=10.0, tuple_bytes=50.0, execution_time_ms=1.5)
LEAST = 0.25


def measured(taken=None, emitted=None, listed=None):
    """Rates by edge, by (component, stream), and (executed, emitted, execute_ms) by first task."""
    tasks = sorted(listed or {})
    columns = zip(*(listed[task] for task in tasks), strict=True) if tasks else ((), (), ())
    return MeasuredRates(
        age_s=0.0,
        taken={
            key: each if isinstance(each, Taken) else Taken(each, None) for key, each in (taken or {}).items()
        },
        emitted=emitted or {},
        least_rate=LEAST,
        first_task=np.array(tasks, dtype=np.int64),
        listed=Executors(*(np.array(column, dtype=np.float64) for column in columns)),
        complete=True,
        missing=(),
    )


def edge(source, target, stream="default"):
    return (f"c{source}", stream, f"c{target}")


def rates(graph):
    return {(stream.source, stream.target): pytest.approx(stream.rate) for stream in graph.streams}


def test_a_measured_edge_is_split_by_what_sources_emit_and_evenly_over_targets(make):
    """40 tuples/s, the second spout emits three quarters; both bolts get half of each."""
    topology = make.chain("t", [2, 2], [Grouping.SHUFFLE])
    counted = measured({edge(0, 1): 40.0}, listed={1: (0.0, 10.0, np.nan), 2: (0.0, 30.0, np.nan)})
    assert rates(build_executor_graph(topology, PLAN, measured=counted)) == {
        ("c0[1]", "c1[3]"): 5.0,
        ("c0[1]", "c1[4]"): 5.0,
        ("c0[2]", "c1[3]"): 15.0,
        ("c0[2]", "c1[4]"): 15.0,
    }


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        (Grouping.FIELDS, [30.0, 10.0]),
        (Grouping.DIRECT, [30.0, 10.0]),
        (Grouping.CUSTOM, [30.0, 10.0]),
        (Grouping.SHUFFLE, [20.0, 20.0]),
        (Grouping.NONE, [20.0, 20.0]),
        (Grouping.LOCAL_OR_SHUFFLE, [20.0, 20.0]),
        (Grouping.ALL, [20.0, 20.0]),
        (Grouping.GLOBAL, [40.0, 0.0]),
    ],
)
def test_targets_get_their_part_by_grouping(make, grouping, expected):
    """What executors took gives the shares of groupings by content; copies of `all` are counted already."""
    topology = make.chain("t", [1, 2], [grouping])
    counted = measured({edge(0, 1): 40.0}, listed={2: (60.0, 0.0, np.nan), 3: (20.0, 0.0, np.nan)})
    graph = build_executor_graph(topology, PLAN, measured=counted)
    found = rates(graph)
    assert [found.get(("c0[1]", f"c1[{task}]"), 0.0) for task in (2, 3)] == expected


def test_an_executor_without_statistics_has_the_mean_share_of_the_others(make):
    """Of three bolts one is unknown: the others took 60 and 20, so it took 40 of 120."""
    topology = make.chain("t", [1, 3], [Grouping.FIELDS])
    counted = measured({edge(0, 1): 12.0}, listed={2: (60.0, 0.0, np.nan), 4: (20.0, 0.0, np.nan)})
    found = rates(build_executor_graph(topology, PLAN, measured=counted))
    assert list(found.values()) == [6.0, 4.0, 2.0]


def test_what_was_not_counted_is_rare_not_absent(make):
    """An idle edge, an idle executor and an idle source keep less than one counted tuple per window."""
    topology = make.chain("t", [1, 2, 1], [Grouping.FIELDS, Grouping.SHUFFLE])
    counted = measured(
        {edge(0, 1): 100.0, edge(1, 2): 0.0}, listed={2: (99.75, 0.0, np.nan), 3: (0.0, 0.0, np.nan)}
    )
    assert rates(build_executor_graph(topology, PLAN, measured=counted)) == {
        ("c0[1]", "c1[2]"): 99.75,
        ("c0[1]", "c1[3]"): LEAST,
        ("c1[2]", "c2[4]"): LEAST / 2,
        ("c1[3]", "c2[4]"): LEAST / 2,
    }


def test_an_edge_whose_consumer_has_no_statistics_follows_what_its_source_emits(make):
    """`all` copies it to both tasks; beyond, the consumer passes on what it gets."""
    topology = make.chain("t", [1, 2, 1], [Grouping.ALL, Grouping.SHUFFLE])
    counted = measured(emitted={("c0", "default"): 7.0})
    assert rates(build_executor_graph(topology, PLAN, measured=counted)) == {
        ("c0[1]", "c1[2]"): 7.0,
        ("c0[1]", "c1[3]"): 7.0,
        ("c1[2]", "c2[4]"): 7.0,
        ("c1[3]", "c2[4]"): 7.0,
    }


def test_a_bolt_that_was_seen_to_emit_little_passes_little_on(make):
    """It takes 7/s and emits 3/s to a consumer without statistics, evenly from both executors."""
    topology = make.chain("t", [1, 2, 1], [Grouping.SHUFFLE, Grouping.SHUFFLE])
    counted = measured({edge(0, 1): 7.0}, {("c1", "default"): 3.0})
    found = rates(build_executor_graph(topology, PLAN, measured=counted))
    assert (found["c1[2]", "c2[4]"], found["c1[3]", "c2[4]"]) == (1.5, 1.5)


def test_declared_rates_count_where_nothing_is_measured(make):
    """The spout's 6/s over both executors, and a bolt that makes 1/s of them; measured edges win."""
    topology = make.chain("t", [2, 1, 1], [Grouping.SHUFFLE, Grouping.SHUFFLE])
    declared = {"c0": 6.0, "c1": 1.0}
    assert rates(build_executor_graph(topology, PLAN, declared)) == {
        ("c0[1]", "c1[3]"): 3.0,
        ("c0[2]", "c1[3]"): 3.0,
        ("c1[3]", "c2[4]"): 1.0,
    }
    counted = measured({edge(0, 1): 40.0})
    assert rates(build_executor_graph(topology, PLAN, declared, counted)) == {
        ("c0[1]", "c1[3]"): 20.0,
        ("c0[2]", "c1[3]"): 20.0,
        ("c1[3]", "c2[4]"): 1.0,
    }


def acked(make):
    topology = make.chain("t", [2, 2, 1], [Grouping.SHUFFLE, Grouping.FIELDS])
    return replace(
        topology,
        component_names=("c0", "c1", "__acker"),
        component_kinds=(ComponentKind.SPOUT, ComponentKind.BOLT, ComponentKind.ACKER),
        stream_from=(0, 0, 1, 2),
        stream_to=(1, 2, 2, 0),
        stream_ids=("default", "__ack_init", "__ack_ack", "__ack_ack"),
        stream_groupings=(Grouping.SHUFFLE, Grouping.FIELDS, Grouping.FIELDS, Grouping.DIRECT),
    )


def into(graph):
    received = defaultdict(float)
    for stream in graph.streams:
        received[stream.source[:-3], stream.target] += stream.rate
    return {key: pytest.approx(rate) for key, rate in received.items()}


def test_ackers_follow_measured_emissions_where_they_are_not_measured_themselves(make):
    """One message per tree of 40/s, one per tuple that the bolt took, answers by the spouts' shares."""
    counted = measured(
        {edge(0, 1): 40.0},
        {("c0", "default"): 40.0},
        {1: (0.0, 10.0, np.nan), 2: (0.0, 30.0, np.nan)},
    )
    received = into(build_executor_graph(acked(make), PLAN, measured=counted))
    assert received["c0", "__acker[5]"] == received["c1", "__acker[5]"] == 40.0
    assert (received["__acker", "c0[1]"], received["__acker", "c0[2]"]) == (10.0, 30.0)


def test_a_bolt_acknowledges_what_it_takes_whatever_it_emits(make):
    """It gets 20/s and is declared to emit 1/s."""
    received = into(build_executor_graph(acked(make), PLAN, {"c0": 20.0, "c1": 1.0}))
    assert received["c0", "__acker[5]"] == received["c1", "__acker[5]"] == 20.0


def test_measured_acknowledgements_count_and_are_small(make):
    """Rates as measured, none at all where none was counted, the size of an acknowledgement."""
    counted = measured(
        {
            edge(0, 1): 40.0,
            ("c0", "__ack_init", "__acker"): 39.0,
            ("c1", "__ack_ack", "__acker"): 0.0,
            ("__acker", "__ack_ack", "c0"): 38.0,
        },
        listed={1: (0.0, 10.0, np.nan), 2: (0.0, 30.0, np.nan)},
    )
    graph = build_executor_graph(acked(make), PLAN, measured=counted)
    received = into(graph)
    assert received["c0", "__acker[5]"] == 39.0
    assert ("c1", "__acker[5]") not in received
    assert (received["__acker", "c0[1]"], received["__acker", "c0[2]"]) == (9.5, 28.5)
    for stream in graph.streams:
        assert stream.tuple_bytes == (ACK_BYTES if "__acker" in stream.source + stream.target else 50.0)


def test_sizes_and_execution_times_are_taken_where_they_are_measured(make):
    """An executor without takes the mean of its component, a component without the setting."""
    topology = make.chain("t", [1, 3], [Grouping.SHUFFLE])
    counted = measured(
        {edge(0, 1): Taken(9.0, 321.0)},
        listed={1: (0.0, 9.0, np.nan), 2: (3.0, 0.0, 4.0), 3: (3.0, 0.0, 8.0)},
    )
    graph = build_executor_graph(topology, PLAN, measured=counted)
    assert {stream.tuple_bytes for stream in graph.streams} == {321.0}
    assert graph.execution_time_ms.tolist() == [1.5, 4.0, 8.0, 6.0]


figures = st.floats(0.0, 1000.0)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sources=st.integers(1, 6),
    targets=st.integers(1, 6),
    tasks=st.integers(1, 3),
    grouping=st.sampled_from(list(Grouping)),
    rate=figures,
    most=st.integers(1, 40),
    data=st.data(),
)
def test_measured_tuples_are_conserved(make, *, sources, targets, tasks, grouping, rate, most, data):
    """The pairs of an edge sum up to its rate, per source to its share, per target to its part."""
    topology = make.chain("t", [sources, targets], [grouping], tasks_per_executor=tasks)
    first = topology.executor_first_task
    known = data.draw(st.sets(st.sampled_from(first)))
    listed = {task: (data.draw(figures), data.draw(figures), np.nan) for task in known}
    counted = measured({edge(0, 1): rate}, listed=listed)
    plan = PLAN.model_copy(update={"max_streams_per_edge": most})
    graph = build_executor_graph(topology, plan, measured=counted)
    total = max(rate, LEAST)
    sent, received = defaultdict(float), defaultdict(float)
    for stream in graph.streams:
        sent[stream.source] += stream.rate
        received[stream.target] += stream.rate
    assert math.isclose(sum(sent.values()), total, rel_tol=1e-9)

    def shares(column, of):
        values = [max(listed[task][column], LEAST * tasks) if task in listed else None for task in of]
        mean = [value for value in values if value is not None]
        usual = sum(mean) / len(mean) if mean else 1.0
        filled = [usual if value is None else value for value in values]
        return [value / sum(filled) for value in filled]

    for task, share in zip(first[:sources], shares(1, first[:sources]), strict=True):
        assert math.isclose(sent[f"c0[{task}]"], total * share, rel_tol=1e-6)
    even = [1 / targets] * targets
    if grouping in (Grouping.FIELDS, Grouping.DIRECT, Grouping.CUSTOM):
        even = shares(0, first[sources:])
    if grouping is Grouping.GLOBAL:
        even = [1.0] + [0.0] * (targets - 1)
    for task, share in zip(first[sources:], even, strict=True):
        assert math.isclose(received[f"c1[{task}]"], total * share, rel_tol=1e-6)
