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


def still_s(values: list[float], tasks: tuple[int, ...] = (5,)) -> float | None:
    """Return for how long a task did nothing that reports a counter every five seconds."""
    clock = Clock()
    found = meters(clock)
    found.watch(TOPOLOGY, tasks)
    for value in values:
        say(found, f"{COUNT}.count", value)
        clock.now_s += 5.0
    return found.still_s(TOPOLOGY)


def test_a_pause_is_the_longest_time_without_work() -> None:
    """From the report after which none was done to the one before that in which some was done again."""
    assert still_s([100.0, 200.0, 200.0, 300.0, 300.0, 300.0, 330.0, 400.0]) == 10.0
    assert still_s([100.0, 200.0, 300.0]) == 0.0


def test_a_worker_that_started_anew_has_worked_since_its_start() -> None:
    assert still_s([100.0, 200.0, 0.0, 0.0, 50.0]) == 10.0
    assert still_s([100.0, 200.0, 0.0, 0.0, 0.0]) == 0.0, "it has not shown its end yet"


def test_only_the_tasks_that_are_watched_count() -> None:
    assert still_s([100.0, 200.0, 300.0], tasks=(6,)) is None


def test_what_is_shorter_than_reports_tell_takes_as_long_as_they_are_apart() -> None:
    """If there is work now."""
    clock = Clock()
    found = meters(clock)
    found.watch(TOPOLOGY, (5,))
    assert found.untold_s(TOPOLOGY) is None
    for items in (100.0, 200.0, 300.0):
        say(found, f"{COUNT}.count", items)
        clock.now_s += 5.0
    assert found.untold_s(TOPOLOGY) == 5.0
    clock.now_s += 5.0
    assert found.untold_s(TOPOLOGY) is None


def test_less_than_half_of_what_is_usual_is_no_work() -> None:
    """Of two tasks together, which report beside each other."""
    clock = Clock()
    found = meters(clock)
    done = 0.0

    def both(*each: float) -> None:
        nonlocal done
        for items in each:
            done += items
            for task in (5, 6):
                found.take(MetricLine(TOPOLOGY, task, f"{COUNT}.count", done))
            clock.now_s += 5.0

    both(50.0, 50.0, 50.0)
    found.watch(TOPOLOGY, (5, 6))
    both(50.0, 10.0, 10.0, 24.0)
    assert found.still_s(TOPOLOGY) == 0.0, "it has not shown its end yet"
    both(26.0, 50.0)
    assert found.still_s(TOPOLOGY) == 15.0


@pytest.mark.parametrize(
    ("per_report", "sample_rate", "lasted_s"),
    [(400.0, 0.05, 20.0), (4.0, 1.0, 20.0), (20.0, 0.05, None), (60.0, 0.05, 20.0)],
)
def test_of_few_items_that_are_counted_no_pause_is_known(
    per_report: float, sample_rate: float, lasted_s: float | None
) -> None:
    """Storm counts one of twenty as twenty: of four items a second twenty come in five seconds, or none."""
    clock = Clock()
    found = meters(clock)
    done = 0.0
    for k in range(20):
        if k == 8:
            found.watch(TOPOLOGY, (5,), sample_rate)
        done += per_report if k < 10 or k >= 14 else 0.0
        say(found, f"{COUNT}.count", done)
        clock.now_s += 5.0
    assert found.still_s(TOPOLOGY) == lasted_s


def test_ticks_are_no_work() -> None:
    """Storm sends them each second to a task for which nothing comes."""
    clock = Clock()
    found = meters(clock)
    found.watch(TOPOLOGY, (5,))
    for items in (100.0, 200.0, 200.0, 200.0, 300.0):
        say(found, f"{COUNT}.count", items)
        say(found, "__execute-count-__system:__tick.count", clock.now_s)
        clock.now_s += 5.0
    assert found.still_s(TOPOLOGY) == 10.0


def test_before_two_reports_nothing_is_known() -> None:
    assert still_s([100.0]) is None


def test_watching_begins_anew() -> None:
    clock = Clock()
    found = meters(clock)
    for value in (100.0, 100.0, 100.0, 200.0):
        found.watch(TOPOLOGY, (5,))
        say(found, f"{COUNT}.count", value)
        clock.now_s += 5.0
    assert found.still_s(TOPOLOGY) is None


def test_a_pause_is_found_behind_any_number_of_reports() -> None:
    """As of a component of many tasks."""
    assert still_s([*range(3000), 2999, 2999, *range(3000, 6000)]) == 10.0
