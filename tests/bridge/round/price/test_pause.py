"""Pauses are learned from what earlier plans took, by the number of workers that restart."""

from __future__ import annotations

import pytest

from bridge.round.memory import Memory
from bridge.round.price.pause import DEFAULT_S, expected_pause

SAMPLES = (8.0, 10.0, 12.0, 14.0, 16.0)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (Memory(), (DEFAULT_S, "default", 0)),
        (Memory(pauses=(1.0, 2.0), first_starts=(3.0, 4.0)), (DEFAULT_S, "default", 0)),
        (Memory(pauses=(1.0, 2.0), first_starts=SAMPLES), (12.0, "first starts", 5)),
        (Memory(pauses=SAMPLES, first_starts=(1.0,) * 9), (12.0, "restarts", 5)),
    ],
)
def test_a_default_holds_until_three_are_measured_and_restarts_count_before_first_starts(memory, expected):
    """Of one worker it is the median."""
    assert expected_pause(memory, 1) == expected


def test_the_more_workers_restart_the_longer_the_last_of_them_takes():
    """Three quarters of all draws are below the longest of three, on average; no estimate leaves the data."""
    memory = Memory(pauses=SAMPLES)
    pauses = [expected_pause(memory, workers).pause_s for workers in range(1, 20)]
    assert pauses[2] == 14.0
    assert pauses == sorted(pauses)
    assert pauses[-1] <= 16.0
    assert expected_pause(memory, 0) == expected_pause(memory, 1)
