"""Tuples that spouts emit again follow from measured rates, or are not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.readings.rates import read_rates
from bridge.round.price.replays import replayed_tuples
from bridge.wire.messages import ComponentKind
from tests.bridge.conftest import cluster
from tests.bridge.round.price.priced_rounds import TREES, acking, rates

SPOUT, FIRST, BUSY, QUIET, ACKER = range(5)


def replayed(restarting, pause_s=10.0, response_time_ms=50.0, topology=None, **fields):
    topology = topology or acking()
    request = replace(cluster(topology), readings=(rates(**fields),))
    measured = read_rates(request).by_topology["t"]
    return replayed_tuples(topology, measured, restarting, pause_s, response_time_ms)


@pytest.mark.parametrize(
    ("restarting", "share"),
    [
        ({FIRST}, 1.0),
        ({ACKER}, 1.0),
        ({FIRST, ACKER}, 1.0),
        ({BUSY}, 1.0 - 0.25**2),
        ({QUIET}, 1.0 - 0.75**2),
        ({BUSY, QUIET}, 1.0),
        (set(), 0.0),
    ],
)
def test_a_tree_is_replayed_if_any_of_its_tuples_meets_an_executor_that_restarts(restarting, share):
    """Of two tuples each may; what is under way when it ends is lost with what comes during the pause."""
    assert replayed(restarting) == pytest.approx(share * TREES * (10.0 + 0.05))


def test_of_a_spout_that_restarts_only_what_is_under_way_is_lost():
    """It emits nothing meanwhile."""
    assert replayed({SPOUT}) == pytest.approx(TREES * 0.05)
    assert replayed({SPOUT, FIRST}) == pytest.approx(TREES * 0.05)


def test_a_component_that_few_trees_reach_loses_few():
    """A filter lets a tenth through."""
    streams = [
        {"from": "spout", "stream": "default", "to": "first", "rate": 0.1 * TREES},
        {"from": "__acker", "stream": "__ack_ack", "to": "spout", "rate": 0.8 * TREES},
        {"from": "__acker", "stream": "__ack_fail", "to": "spout", "rate": 0.2 * TREES},
    ]
    assert replayed({FIRST}, streams=streams) == pytest.approx(0.1 * TREES * 10.05)


def test_what_is_under_way_follows_from_the_measured_time_before_the_models():
    """Without either it is left out; what comes during the pause is not."""
    assert replayed({FIRST}, complete_ms=200.0) == pytest.approx(TREES * 10.2)
    assert replayed({FIRST}, response_time_ms=None) == pytest.approx(TREES * 10.0)


def test_executors_that_are_not_listed_count_alike():
    """Half of the second bolt's two executors restart."""
    listed = {"first_task": [3], "executed": [150.0], "emitted": [0.0], "execute_ms": [1.0]}
    for executors in (None, listed):
        assert replayed({BUSY}, executors=executors) == pytest.approx(0.75 * TREES * 10.05)


@pytest.mark.parametrize(
    "fields",
    [
        {"acked": None},
        {"acked": 0.0},
        {"streams": [{"from": "__acker", "stream": "__ack_ack", "to": "spout", "rate": 1.0}]},
    ],
)
def test_without_acknowledgements_or_rates_it_is_not_known(fields):
    """Never 0."""
    assert replayed({FIRST}, **fields) is None


def test_without_ackers_or_statistics_it_is_not_known():
    """Streams of ackers by name alone say nothing."""
    topology = acking()
    plain = replace(topology, component_kinds=(*topology.component_kinds[:3], ComponentKind.BOLT))
    assert replayed({FIRST}, topology=plain) is None
    assert replayed_tuples(topology, None, {FIRST}, 10.0, 50.0) is None
