"""What may be spent per hour."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.application_manager.bucket import Bucket


def test_a_bucket_is_full_at_first_and_fills_evenly() -> None:
    bucket = Bucket(per_hour=6, most=2)
    assert bucket.filled(None, 0, 0) == 2
    assert bucket.filled(0.5, 100, 700) == 1.5
    assert bucket.filled(0.5, 100, 99_999) == 2
    assert bucket.filled(0.5, 100, 50) == 0.5


@given(st.lists(st.integers(1, 600), max_size=60))
def test_within_an_hour_no_more_is_spent_than_comes_in_and_was_there(steps: list[int]) -> None:
    bucket, left, now, spent = Bucket(per_hour=6, most=2), None, 0, []
    for step in steps:
        there = bucket.filled(left, now, now + step)
        now += step
        left = there - 1 if there >= 1 else there
        spent += [now] if there >= 1 else []
    assert all(sum(at <= each < at + 3600 for each in spent) <= 8 for at in spent)
