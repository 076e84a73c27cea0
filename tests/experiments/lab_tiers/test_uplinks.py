"""Counters of uplinks become bytes per second."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from experiments.lab_tiers.uplinks import Look, Sample, Watch, rates, within

LINKS = (("uplink of a", 1000, 0), ("a-b", 5, 5), ("uplink of b", 50, 2))


def sample(time_s: float, a: int) -> Sample:
    return Sample(time_s=time_s, passed={"a": a}, dropped={"a": 0})


class Lab:
    """Counts on between two looks."""

    def __init__(self) -> None:
        self.looks = 0

    def status(self) -> Any:
        self.looks += 1
        return SimpleNamespace(links=[(name, size * self.looks, lost) for name, size, lost in LINKS])


def test_a_rate_is_the_difference_of_counters_over_the_time_between() -> None:
    assert rates(sample(10.0, 500), sample(14.0, 2500)) == {"a": 500.0}


def test_samples_of_a_time_are_those_between_its_ends() -> None:
    samples = [sample(float(second), 0) for second in range(6)]
    assert [each.time_s for each in within(samples, 2.0, 4.0)] == [2.0, 3.0, 4.0]


def test_only_uplinks_of_sites_are_looked_at() -> None:
    """Links between two sites are named after both."""
    waits: list[float] = []
    moments = iter([1.0, 31.0, 40.0])
    watch = Watch(Lab(), lambda: next(moments), waits.append)  # type: ignore[arg-type]  # it asks for the status
    first, last = watch.rest(30.0)
    assert (first.passed, first.dropped) == ({"a": 1000, "b": 50}, {"a": 0, "b": 2})
    assert (last.time_s - first.time_s, waits) == (30.0, [30.0])
    watch.look(Look(0.0))
    assert [each.passed["b"] for each in watch.paced] == [150]
