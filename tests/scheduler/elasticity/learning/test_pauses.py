"""How long pauses are expected to be, from those that were measured."""

from __future__ import annotations

import math
import random

import pytest

from scheduler.elasticity.learning.pauses import FIRST_S, FIRST_WORKERS, expected_pause_s

SLOW = ((2, 3.63), (2, 3.63), (4, 7.72), (5, 8.29), (6, 12.58))
"""As they were on a lab with slow processors, in this order."""
WITHOUT_LOG_WRITERS = ((2, 3.3), (2, 2.8), (4, 4.6), (5, 6.1), (6, 10.0), (5, 6.1), (6, 10.6))
QUICK = ((2, 2.7), (2, 2.9), (4, 3.9), (4, 4.5), (7, 7.0), (8, 8.6))


def test_the_guess_grows_with_workers_up_to_three_times_of_it() -> None:
    assert expected_pause_s((), FIRST_WORKERS) == pytest.approx(FIRST_S)
    assert expected_pause_s((), 4) == pytest.approx(FIRST_S * (6 / 4) ** 1.4)
    assert expected_pause_s((), 500) == pytest.approx(3.0 * FIRST_S)


@pytest.mark.parametrize(
    "pauses", [SLOW, WITHOUT_LOG_WRITERS, QUICK], ids=["slow", "without-log-writers", "quick"]
)
def test_each_pause_of_labs_is_expected_within_30_per_cent_by_those_before(
    pauses: tuple[tuple[int, float], ...],
) -> None:
    for number, (workers, lasted_s) in enumerate(pauses):
        assert expected_pause_s(pauses[:number], workers) == pytest.approx(lasted_s, rel=0.3)


def test_one_pause_of_many_is_nearly_believed_however_long_it_was() -> None:
    for lasted_s in (0.5, 8.0, 60.0):
        assert expected_pause_s([(6, lasted_s)], 6) == pytest.approx(lasted_s, rel=0.25)


def test_one_pause_of_another_kind_changes_little() -> None:
    odd = [(2, 5.0), (4, 8.0), (5, 60.0), (6, 11.0), (8, 14.0), (9, 15.5)]
    assert expected_pause_s(odd, 7) == pytest.approx(12.5, rel=0.05)


def test_pauses_of_nearly_as_many_workers_say_little_of_how_they_grow() -> None:
    """Three and four, as they were on a lab: five take longer than four, whatever noise says."""
    assert expected_pause_s([(3, 4.6), (3, 3.8), (4, 2.9)], 5) == pytest.approx(5.3, rel=0.05)


def test_workers_that_are_far_apart_say_more() -> None:
    """Two took as long as ten times as many, whatever four that are close to each other say."""
    measured = [(20, 9.0), (21, 10.0), (22, 11.0), (23, 12.0), (2, 9.0)]
    assert expected_pause_s(measured, 92) == pytest.approx(12.5, rel=0.1)


def test_pauses_that_grow_shorter_are_no_rule() -> None:
    measured = [(10, 9.0), (10, 9.5), (40, 7.0), (40, 7.5), (80, 6.0)]
    assert expected_pause_s(measured, 2) == expected_pause_s(measured, 160) == pytest.approx(7.6, rel=0.02)


def test_nothing_far_beyond_what_was_measured_is_expected() -> None:
    assert expected_pause_s([(2, 3.0), (3, 4.0)], 500) == pytest.approx(3.0 * 4.0)
    assert expected_pause_s([(90, 60.0), (100, 70.0)], 1) == pytest.approx(60.0 / 3.0)


@pytest.mark.parametrize("power", [0.3, 1.0, 1.6])
def test_how_pauses_grow_is_learned(power: float) -> None:
    noise = random.Random(round(10.0 * power))
    measured = [
        (workers, 0.5 * (workers + 2.0) ** power * math.exp(noise.gauss(0.0, 0.05)))
        for workers in range(1, 21)
    ]
    assert expected_pause_s(measured, 20) == pytest.approx(0.5 * 22.0**power, rel=0.1)
    assert expected_pause_s(measured, 1) == pytest.approx(0.5 * 3.0**power, rel=0.1)
