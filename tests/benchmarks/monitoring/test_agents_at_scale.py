"""Rules of the readings with which scale is measured."""

from __future__ import annotations

import json

from benchmarks.monitoring.agents_writes import content


def test_a_reading_of_the_benchmark_is_as_large_as_readings_get() -> None:
    reading = json.loads(content("site-1-host-1", 7))
    assert len(reading["links"]) == 32
    assert reading["sequence"] == 7


def test_readings_differ_from_each_other() -> None:
    assert content("a", 1) != content("a", 2)
