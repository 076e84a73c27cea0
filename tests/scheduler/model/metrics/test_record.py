from __future__ import annotations

import math

import pytest

from scheduler.model.metrics.record import AS_IT_IS, AS_PROBABILITY


def test_a_sum_is_stated_as_it_is() -> None:
    assert AS_IT_IS.range_of(2.0, 5.0) == (2.0, 5.0)
    assert AS_IT_IS.sums_of((2.0, 5.0)) == (2.0, 5.0)


def test_a_probability_falls_as_the_sum_grows() -> None:
    """The best sum is behind the largest probability; and back."""
    low, high = AS_PROBABILITY.range_of(0.5, 2.0)

    assert (low, high) == pytest.approx((math.exp(-2.0), math.exp(-0.5)))
    assert AS_PROBABILITY.sums_of((low, high)) == pytest.approx((0.5, 2.0))


def test_ranges_of_probabilities_end_where_floats_do() -> None:
    """A range has to exceed 0, which exp(-sum) does not for large sums; a value itself may be 0."""
    assert AS_PROBABILITY.range_of(1e4, 2e4) == (math.exp(-700), math.exp(-700))
    assert AS_PROBABILITY.of(1e4) == 0.0
