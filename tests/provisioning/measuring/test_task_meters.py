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


def moved(values: list[float], since_s: float, tasks: tuple[int, ...] = (5,)) -> float | None:
    """Return when a task first worked again that reports a counter every five seconds from 1000 on."""
    clock = Clock()
    found = meters(clock)
    for value in values:
        say(found, f"{COUNT}.count", value)
        clock.now_s += 5.0
    return found.worked_s(TOPOLOGY, tasks, "__execute-count-", since_s)


def test_work_begins_again_in_the_middle_of_the_interval_in_which_something_was_done() -> None:
    assert moved([100.0, 200.0, 200.0, 200.0, 230.0, 300.0], 1007.0) == 1017.5


def test_what_was_begun_before_does_not_count() -> None:
    """The second value was counted in an interval that had begun two seconds before."""
    assert moved([100.0, 200.0, 200.0], 1002.0) is None
    assert moved([100.0, 200.0, 200.0], 1000.0) == 1002.5


def test_a_worker_that_started_anew_has_worked_since_its_start() -> None:
    assert moved([100.0, 200.0, 20.0, 50.0], 1004.0) == 1007.5
    assert moved([100.0, 200.0, 0.0, 50.0], 1004.0) == 1012.5


def test_only_the_tasks_that_are_asked_for_count() -> None:
    assert moved([100.0, 200.0, 300.0], 1000.0, tasks=(6,)) is None


def test_without_two_reports_the_interval_is_not_known() -> None:
    assert moved([100.0], 0.0) is None
