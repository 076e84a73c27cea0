"""No minute has more bytes than its share, whatever the bandwidth becomes, and no share goes out at once."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.agent.bandwidth.byte_budget import ByteBudget

SHARE = 0.05
WIDE, NARROW = 125_000.0, 12_500.0
MINUTE_BYTES = 375_000.0
"""5 % of `WIDE` in a minute."""


def spend(budget: ByteBudget, size: int, bytes_per_s: float, now_s: float) -> float:
    """Wait as long as it takes, send, and return the time."""
    now_s += budget.wait_s(size, bytes_per_s, now_s)
    while (wait_s := budget.wait_s(size, bytes_per_s, now_s)) > 0:  # a rounding error may be left
        now_s = max(now_s + wait_s, math.nextafter(now_s, math.inf))
    budget.charge(size, bytes_per_s, now_s)
    return now_s


def test_the_first_train_may_leave_at_once() -> None:
    assert ByteBudget(SHARE).wait_s(20_000, WIDE, 7.0) == 0


def test_the_next_train_waits_until_the_last_one_is_paid_off() -> None:
    budget = ByteBudget(SHARE)
    budget.charge(12_500, WIDE, 100.0)
    assert budget.wait_s(12_500, WIDE, 100.0) == pytest.approx(2.0)
    assert budget.wait_s(12_500, WIDE, 101.5) == pytest.approx(0.5)
    assert budget.wait_s(12_500, WIDE, 102.5) == 0


def test_what_a_minute_has_no_room_for_is_never_sent() -> None:
    assert ByteBudget(SHARE).wait_s(375_001, WIDE, 0.0) == math.inf
    assert ByteBudget(SHARE).wait_s(375_000, WIDE, 0.0) == 0


def test_bytes_of_a_wide_minute_count_when_the_path_turns_out_to_be_narrow() -> None:
    """A bucket would let the next train go as soon as it has tokens again."""
    budget = ByteBudget(SHARE)
    at_s = 0.0
    for _ in range(3):
        at_s = spend(budget, 12_000, WIDE, at_s)
    # 5 % of the narrow path are 37,500 bytes a minute, of which 36,000 are sent
    assert at_s + budget.wait_s(12_000, NARROW, at_s) == pytest.approx(60.0)


def test_a_long_time_uses_nearly_all_of_its_share() -> None:
    budget = ByteBudget(SHARE)
    at_s, sent = 0.0, 0
    while at_s < 600:
        at_s = spend(budget, 12_500, WIDE, at_s)
        sent += 12_500
    assert sent == pytest.approx(10 * MINUTE_BYTES, rel=0.05)


BANDWIDTHS = st.sampled_from([12_500.0, 30_000.0, 125_000.0])


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(60, 25_000), BANDWIDTHS), max_size=60))
def test_no_minute_that_ends_with_a_train_has_more_than_its_share(
    trains: list[tuple[float, int, float]],
) -> None:
    budget = ByteBudget(SHARE)
    now_s = 0.0
    sent: list[tuple[float, int]] = []
    for pause_s, size, bytes_per_s in trains:
        now_s = spend(budget, size, bytes_per_s, now_s + pause_s)
        sent.append((now_s, size))
        minute = sum(each for at_s, each in sent if at_s + 60 > now_s)
        assert minute <= SHARE * bytes_per_s * 60
