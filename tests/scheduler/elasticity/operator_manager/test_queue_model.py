"""Executors as queues."""

from __future__ import annotations

import math

import pytest

from scheduler.elasticity.operator_manager.queue_model import bounds_ms, least_executors, response_ms

SERVICE = (250.0, 400.0, 150.0, 100.0)
PASSED = (1.0, 0.98, 0.98, 0.98 * 0.25)


def test_paper_004_worked_example_of_response_times() -> None:
    assert response_ms(100, 1, 150) == pytest.approx(20, abs=1e-5)
    assert response_ms(300, 3, 150) == pytest.approx(20, abs=1e-5)
    assert math.isinf(response_ms(300, 2, 150))


def test_paper_004_bounds_of_components_follow_their_service_times() -> None:
    assert bounds_ms(120, 20, SERVICE) == pytest.approx((17.3, 10.8, 28.8, 43.2), abs=0.05)


@pytest.mark.parametrize(("rate", "least"), [(660, (4, 3, 6, 3)), (1100, (6, 4, 10, 4))])
def test_paper_004_worked_example_of_least_executors(rate: float, least: tuple[int, ...]) -> None:
    bounds = bounds_ms(120, 20, SERVICE)
    found = [
        least_executors(rate * passed, service, bound, 12)
        for service, passed, bound in zip(SERVICE, PASSED, bounds, strict=True)
    ]
    assert found == list(least)


def test_a_rate_that_the_most_cannot_keep_up_with_has_no_least_number() -> None:
    assert least_executors(1000, 100, 20, 10) is None
