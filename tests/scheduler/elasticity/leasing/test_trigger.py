"""Algorithm 1: late, or about to be, with a long queue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.leasing.trigger import needs_one_more, predicted_ms
from tests.scheduler.elasticity.leasing.example import IN_TIME, RISING, SHORT_QUEUE, TREND


@pytest.mark.parametrize(
    ("durations", "slo_ms", "queued", "predicted", "needed"),
    [
        (RISING, 1500, 120, 1755.0, True),
        (TREND, 600, 60, 634.0, True),
        (SHORT_QUEUE, 1300, 30, 1382.0, False),
        (IN_TIME, 1300, 400, 1027.0, False),
    ],
    ids=["late", "late by trend", "the queue is short", "in time"],
)
def test_paper_003_worked_example_step_1(
    durations: tuple[float, ...], slo_ms: float, queued: float, predicted: float, needed: bool
) -> None:
    assert predicted_ms(durations) == pytest.approx(predicted, abs=1e-5)
    assert needs_one_more(durations, slo_ms, queued, 50) is needed


@given(st.lists(st.floats(0, 1e5), min_size=2, max_size=12))
def test_the_line_is_that_of_least_squares(durations: list[float]) -> None:
    line = np.polyfit(np.arange(1, len(durations) + 1), durations, 1)
    assert predicted_ms(durations) == pytest.approx(np.polyval(line, len(durations) + 1), abs=1e-4)


def test_a_single_duration_has_no_trend() -> None:
    assert predicted_ms([700.0]) == 700.0


def test_what_is_late_now_is_late_although_it_gets_better() -> None:
    assert needs_one_more([3000.0, 2000.0, 1000.0], 900, 51, 50)
    assert predicted_ms([3000.0, 2000.0, 1000.0]) < 900


def test_a_queue_at_the_threshold_is_not_long() -> None:
    assert not needs_one_more([1000.0], 900, 50, 50)
    assert not needs_one_more([900.0], 900, 51, 50), "what is agreed is in time"
