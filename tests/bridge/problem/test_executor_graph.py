"""Rates are dealt out by grouping, and no tuple is lost or invented on the way."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.problem.component_flows import ACK_BYTES, component_flows
from bridge.problem.executor_graph import build_executor_graph
from bridge.readings.rates import UNMEASURED, Executors
from bridge.settings import PlanSettings
from bridge.wire.messages import ComponentKind, Grouping
from scheduler.model.problem import Application, Operator

EVEN = [
    Grouping.SHUFFLE,
    Grouping.FIELDS,
    Grouping.NONE,
    Grouping.CUSTOM,
    Grouping.LOCAL_OR_SHUFFLE,
    Grouping.DIRECT,
]
PLAN = PlanSettings(unit_rate=10.0, tuple_bytes=50.0)


def rates(graph):
    return {(stream.source, stream.target): stream.rate for stream in graph.streams}


def totals(graph):
    """Tuples per second into and out of each executor."""
    received, sent = defaultdict(float), defaultdict(float)
    for stream in graph.streams:
        received[stream.target] += stream.rate
        sent[stream.source] += stream.rate
    return received, sent


@pytest.mark.parametrize("grouping", EVEN)
def test_most_groupings_deal_evenly(make, grouping):
    """Two spout executors at 10/s each to four executors: 2.5/s on every pair."""
    graph = build_executor_graph(make.chain("t", [2, 4], [grouping]), PLAN)
    assert len(graph.streams) == 8
    assert all(stream.rate == pytest.approx(2.5) and stream.tuple_bytes == 50.0 for stream in graph.streams)


def test_all_sends_a_copy_to_every_task(make):
    """Two tasks per executor: each pair carries twice the source's rate."""
    graph = build_executor_graph(make.chain("t", [2, 3], [Grouping.ALL], tasks_per_executor=2), PLAN)
    assert set(rates(graph).values()) == {20.0}
    assert len(graph.streams) == 6


def test_global_sends_everything_to_the_lowest_task(make):
    """The other executors of the component get nothing and send nothing on."""
    graph = build_executor_graph(make.chain("t", [2, 3, 1], [Grouping.GLOBAL, Grouping.SHUFFLE]), PLAN)
    assert rates(graph) == {("c0[1]", "c1[3]"): 10.0, ("c0[2]", "c1[3]"): 10.0, ("c1[3]", "c2[6]"): 20.0}


def test_executors_are_weighted_by_their_tasks(make):
    """An executor of three tasks gets three times what one of one task gets."""
    topology = replace(
        make.chain("t", [1, 2], [Grouping.SHUFFLE]),
        executor_first_task=(1, 2, 5),
        executor_last_task=(1, 4, 5),
    )
    assert rates(build_executor_graph(topology, PLAN)) == {("c0[1]", "c1[2]"): 7.5, ("c0[1]", "c1[5]"): 2.5}


def test_the_taxi_query_carries_one_rate_along_both_paths(make):
    """countByWindow takes from two components of the source's rate each, and passes both on."""
    graph = build_executor_graph(make.taxi(), PLAN)
    received, _ = totals(graph)
    assert received["countByWindow[5]"] == received["globalRank[8]"] == 20.0
    assert received["computeRouteID[4]"] == received["metronome[6]"] == 10.0
    assert all(stream.critical for stream in graph.streams)
    assert graph.feedback == ()


def with_acker(make, executors=2):
    topology = make.chain("t", [2, 2, executors], [Grouping.SHUFFLE, Grouping.FIELDS])
    return replace(
        topology,
        component_names=("s", "b", "__acker"),
        component_kinds=(ComponentKind.SPOUT, ComponentKind.BOLT, ComponentKind.ACKER),
        stream_from=(0, 0, 1, 1, 2, 2, 2),
        stream_to=(1, 2, 2, 2, 0, 0, 0),
        stream_ids=(
            "default",
            "__ack_init",
            "__ack_ack",
            "__ack_fail",
            "__ack_ack",
            "__ack_fail",
            "__ack_reset_timeout",
        ),
        stream_groupings=(
            Grouping.SHUFFLE,
            Grouping.FIELDS,
            Grouping.FIELDS,
            Grouping.FIELDS,
            Grouping.DIRECT,
            Grouping.DIRECT,
            Grouping.DIRECT,
        ),
    )


def test_acknowledgements_are_traffic_but_not_critical(make):
    """Spouts report each tuple, bolts acknowledge it, ackers answer once per tree; no failures."""
    graph = build_executor_graph(with_acker(make), PLAN)
    received, sent = totals(graph)
    ackers = [name for name in graph.names if name.startswith("__acker")]
    assert sum(received[name] for name in ackers) == pytest.approx(20.0 + 20.0)
    assert sum(sent[name] for name in ackers) == pytest.approx(20.0)
    for stream in graph.streams:
        acknowledges = "__acker" in stream.source + stream.target
        assert stream.critical is not acknowledges
        assert stream.tuple_bytes == (ACK_BYTES if acknowledges else 50.0)


def test_feedback_is_marked_and_the_rest_is_an_application(make):
    """b2 -> b1 closes a cycle: it is not critical, named, and the scheduler accepts the rest."""
    topology = make.chain("t", [1, 1, 1], [Grouping.SHUFFLE, Grouping.SHUFFLE])
    topology = replace(
        topology,
        stream_from=(0, 1, 2, 1),
        stream_to=(1, 2, 1, 1),
        stream_ids=("default",) * 4,
        stream_groupings=(Grouping.SHUFFLE,) * 4,
    )
    graph = build_executor_graph(topology, PLAN)
    assert graph.feedback == (("c1", "c1"), ("c2", "c1"))
    assert {(s.source, s.target): s.critical for s in graph.streams} == {
        ("c0[1]", "c1[2]"): True,
        ("c1[2]", "c2[3]"): True,
        ("c2[3]", "c1[2]"): False,
    }
    Application(tuple(Operator(name) for name in graph.names), graph.streams)


def test_a_bolt_without_input_emits_like_a_spout(make):
    """Storm's clock drives it."""
    topology = replace(
        make.chain("t", [1, 1], [Grouping.SHUFFLE]), component_kinds=(ComponentKind.BOLT, ComponentKind.BOLT)
    )
    assert rates(build_executor_graph(topology, PLAN)) == {("c0[1]", "c1[2]"): 10.0}


def test_a_topology_without_streams_has_only_executors(make):
    """Nothing flows, nothing breaks; components may have no executor at all."""
    graph = build_executor_graph(make.chain("t", [2, 0], [Grouping.SHUFFLE]), PLAN)
    assert (graph.names, graph.streams) == (("c0[1]", "c0[2]"), ())


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parallelism=st.lists(st.integers(1, 6), min_size=2, max_size=4),
    tasks=st.integers(1, 3),
    most=st.integers(1, 40),
    data=st.data(),
)
def test_tuples_are_conserved(make, parallelism, tasks, most, data):
    """What a component gets is what the one before sent (times its tasks for `all`), few pairs or many."""
    groupings = data.draw(
        st.lists(
            st.sampled_from(list(Grouping)), min_size=len(parallelism) - 1, max_size=len(parallelism) - 1
        )
    )
    topology = make.chain("t", parallelism, groupings, tasks_per_executor=tasks)
    graph = build_executor_graph(topology, PLAN.model_copy(update={"max_streams_per_edge": most}))
    received, sent = totals(graph)
    by_component = [
        [name for name in graph.names if name.startswith(f"c{index}[")] for index in range(len(parallelism))
    ]
    expected = 10.0 * parallelism[0]
    for index, grouping in enumerate(groupings):
        copies = tasks * parallelism[index + 1] if grouping is Grouping.ALL else 1
        emitted = [sent[name] / copies for name in by_component[index]]
        assert math.isclose(sum(emitted), expected, rel_tol=1e-9)
        expected *= copies
        assert math.isclose(sum(received[name] for name in by_component[index + 1]), expected, rel_tol=1e-9)
    for index in range(1, len(parallelism) - 1):
        copies = tasks * parallelism[index + 1] if groupings[index] is Grouping.ALL else 1
        for name in by_component[index]:
            assert math.isclose(received[name] * copies, sent[name], rel_tol=1e-6, abs_tol=1e-9)


def test_a_large_edge_is_carried_by_few_pairs_with_the_same_sums(make):
    """300 x 200 pairs exceed the limit: at most 499 pairs, each executor's rate unchanged."""
    topology = make.chain("t", [300, 200], [Grouping.SHUFFLE])
    graph = build_executor_graph(topology, PLAN)
    received, sent = totals(graph)
    assert len(graph.streams) <= 499
    assert {round(rate, 9) for rate in sent.values()} == {10.0}
    assert {round(rate, 9) for rate in received.values()} == {15.0}


def test_measured_times_are_those_of_a_host_of_speed_1(make):
    """5 ms at twice the speed are 10; what runs nowhere takes what the others of its component take."""
    topology = make.chain("t", [1, 3], [Grouping.SHUFFLE])
    times = np.array([np.nan, 5.0, 8.0, 100.0])
    listed = Executors(np.ones(4), np.ones(4), times)
    measured = replace(UNMEASURED, first_task=np.array(topology.executor_first_task), listed=listed)
    speedup = np.array([1.0, 2.0, 0.5, np.nan])
    graph = build_executor_graph(topology, PLAN, measured=measured, speedup=speedup)
    assert graph.execution_time_ms.tolist() == [PLAN.execution_time_ms, 10.0, 4.0, 7.0]
    assert graph.timed.tolist() == [False, True, True, True]
    assert build_executor_graph(topology, PLAN, measured=measured).execution_time_ms[3] == 100.0


def test_a_declared_time_counts_where_none_is_measured(make):
    """Components that declare none have the daemon's."""
    plan = PLAN.model_copy(update={"execution_time_ms": 3.0})
    graph = build_executor_graph(make.chain("t", [1, 2], [Grouping.SHUFFLE]), plan, declared_ms={"c1": 250.0})
    assert graph.execution_time_ms.tolist() == [3.0, 250.0, 250.0]


def test_a_declared_size_counts_where_none_is_measured(make):
    """Of the component that emits; acknowledgements stay as small as they are."""
    flows = component_flows(make.chain("t", [1, 1, 1], [0, 0]), PLAN, declared_bytes={"c1": 700.0})
    assert flows.tuple_bytes.tolist() == [50.0, 700.0]
