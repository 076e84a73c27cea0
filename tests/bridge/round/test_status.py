"""The line of a topology that is kept changes when its state does, not with time or noise."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.status import coarse
from bridge.wire.messages import Decision, Reading, ReadingKind
from tests.bridge.round.planner_rounds import GOOD, only
from tests.bridge.round.small.stability_rounds import Rounds, scattered

RATES = {
    "version": 1,
    "time": 1.0,
    "lifetime_s": 180.0,
    "topology": "taxi-1",
    "window_s": 60.0,
    "sample_rate": 0.05,
    "streams": [],
    "emitted": [],
    "executors": None,
    "complete": True,
    "missing": [],
}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.0123, "0.0125"),
        (0.9, "1"),
        (1.1, "1"),
        (2.0, "2"),
        (9.7, "10"),
        (61.3, "63"),
        (112.5, "125"),
        (4999.0, "5000"),
        (float("inf"), "inf"),
    ],
)
def test_a_worth_is_shown_in_steps_of_about_a_quarter(value, shown):
    assert coarse(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(100.0, "100"), (101.0, "125"), (0.0, "0"), (9.9, "10")])
def test_a_time_may_be_shown_as_no_shorter_than_it_is(value, shown):
    assert coarse(value, at_least=True) == shown


def measured_at(make, request, k):
    """The cluster's readings so many rounds later: older, and wrong by a little."""
    readings = tuple(
        make.reading(each.name, each.name.rpartition("-")[0], x * (1.05 + 0.002 * (k % 5)), age_ms=1000 * k)
        for each in request.readings
        for x in (json.loads(each.payload)["coordinate"][0],)
    )
    rates = Reading(ReadingKind.RATES, "taxi-1", json.dumps(RATES).encode(), 10_000 * k)
    return replace(request, readings=(*readings, rates))


def test_the_line_of_a_topology_that_is_kept_does_not_age(make):
    """Readings and rates grow older, and noise of a percent is in all delays."""
    request = make.cluster(make.assigned(make.taxi(), GOOD))
    answers = [only(measured_at(make, request, k)) for k in range(10)]
    assert {answer.decision for answer in answers} == {Decision.KEEP}
    assert len({answer.response_time_ms for answer in answers}) > 1
    (status,) = {answer.status for answer in answers}
    assert "; about " in status
    assert status.endswith("; rates measured")


def test_the_line_of_a_gain_that_waits_does_not_count(make):
    """Until it moves, and then while it cools down and something else is better."""
    rounds_ = Rounds(make.cluster(scattered(make)))
    start = rounds_.request
    waiting = set()
    for second in range(0, 30, 5):
        rounds_.request = measured_at(make, start, second // 5)
        waiting.add(rounds_.at(second).status)
    assert len(waiting) == 1
    rounds_.request = measured_at(make, start, 0)
    moved = rounds_.at(30)
    assert moved.decision is Decision.ASSIGN
    assert f": {moved.response_time_ms:.1f} ms response time" in moved.status
