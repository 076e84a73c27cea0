"""What tasks said, over a window."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from provisioning.measuring.graphite import MetricLine
from provisioning.measuring.task_meters import POPULATION, TaskMeters

TOPOLOGY = "words-1-1795843981"
COUNT = "__execute-count-words:default"


@dataclass
class Clock:
    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


def meters(clock: Clock) -> TaskMeters:
    found = TaskMeters(clock, window_s=30.0)
    found.follow({TOPOLOGY})
    return found


def say(meters: TaskMeters, metric: str, value: float, topology: str = TOPOLOGY) -> None:
    meters.take(MetricLine(topology, 5, metric, value))


def test_a_counter_becomes_a_rate_over_the_window() -> None:
    """What is older than the window does not count."""
    clock = Clock()
    found = meters(clock)
    for n in range(20):
        say(found, f"{COUNT}.count", 100.0 * n if n < 10 else 1000.0 + 10.0 * (n - 10))
        clock.now_s += 5.0
    readings = found.readings(TOPOLOGY, 0.0)
    assert readings.rates[5, COUNT] == pytest.approx(2.0)
    assert readings.values[5, COUNT] == 1090.0


def test_a_worker_that_started_anew_counts_from_there() -> None:
    clock = Clock()
    found = meters(clock)
    for value in (500.0, 600.0, 0.0, 50.0):
        say(found, f"{COUNT}.count", value)
        clock.now_s += 5.0
    assert found.readings(TOPOLOGY, 0.0).rates == {(5, COUNT): pytest.approx(10.0)}


def test_what_was_said_before_a_change_does_not_count() -> None:
    clock = Clock()
    found = meters(clock)
    say(found, f"{COUNT}.count", 0.0)
    say(found, POPULATION, 7.0)
    clock.now_s += 5.0
    assert found.readings(TOPOLOGY, clock.now_s).values == {}
    say(found, f"{COUNT}.count", 50.0)
    readings = found.readings(TOPOLOGY, clock.now_s)
    assert readings.values == {(5, COUNT): 50.0}
    assert readings.rates == {}
    assert readings.spoke_s == {}


def test_when_a_task_spoke_is_when_it_named_its_queue() -> None:
    clock = Clock()
    found = meters(clock)
    say(found, POPULATION, 7.0)
    clock.now_s += 5.0
    say(found, POPULATION, 8.0)
    readings = found.readings(TOPOLOGY, 0.0)
    assert readings.spoke_s == {5: (1000.0, 1005.0)}
    assert readings.values == {(5, POPULATION): 8.0}


def test_other_topologies_and_other_metrics_are_dropped() -> None:
    found = meters(Clock())
    say(found, POPULATION, 7.0, "others-1-1795843981")
    say(found, f"{COUNT}.m1_rate", 7.0)
    say(found, "receive-queue-capacity", 7.0)
    assert found.readings(TOPOLOGY, 0.0).values == {}
    assert found.readings("others-1-1795843981", 0.0).values == {}
