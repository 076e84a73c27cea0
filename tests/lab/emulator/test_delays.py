from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.emulator.delays import DelayTable

delays = st.floats(0.0, 500.0)
NO_LOSS = [[0.0] * 3] * 3


@given(delay_ms=delays, jitter_ms=st.floats(0.0, 50.0), seed=st.integers(0, 10))
def test_a_packet_never_arrives_before_it_was_sent(delay_ms: float, jitter_ms: float, seed: int) -> None:
    """Jitter is cut off at the delay and at three standard deviations."""
    table = DelayTable([[delay_ms]], jitter_ms, [[0.0]], seed)
    for _ in range(50):
        drawn_ms = table.draw_s(0, 0) * 1e3
        assert drawn_ms >= 0.0
        assert abs(drawn_ms - delay_ms) <= 3.0 * jitter_ms + 1e-9


def test_jitter_keeps_the_mean() -> None:
    """The mean of many delays is the stated delay, also where the cut is near."""
    for delay_ms in (1.0, 20.0):
        table = DelayTable([[delay_ms]], 2.0, [[0.0]], seed=3)
        mean_ms = statistics.fmean(table.draw_s(0, 0) for _ in range(20_000)) * 1e3
        assert mean_ms == pytest.approx(delay_ms, abs=0.06)


def test_jitter_has_the_stated_deviation() -> None:
    """Far from the cut the standard deviation is nearly the stated one."""
    table = DelayTable([[50.0]], 2.0, [[0.0]], seed=3)
    assert statistics.stdev(table.draw_s(0, 0) * 1e3 for _ in range(20_000)) == pytest.approx(1.97, abs=0.05)


def test_loss_has_the_stated_probability_and_repeats_with_its_seed() -> None:
    """Loss is random in its amount and the same for the same seed."""
    first, second = (DelayTable([[1.0]], 0.0, [[0.1]], seed=5) for _ in range(2))
    fates = [first.is_lost(0, 0) for _ in range(20_000)]
    assert fates == [second.is_lost(0, 0) for _ in range(20_000)]
    assert statistics.fmean(fates) == pytest.approx(0.1, abs=0.01)


def test_a_changed_delay_holds_both_ways_and_for_that_pair_only() -> None:
    """Changing one pair leaves all others."""
    table = DelayTable([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]], 0.0, NO_LOSS, seed=0)
    table.set_delay(2, 0, 9.0)
    drawn = [[table.draw_s(a, b) * 1e3 for b in range(3)] for a in range(3)]
    assert drawn == [[0.0, 1.0, 9.0], [1.0, 0.0, 3.0], [9.0, 3.0, 0.0]]


def test_loss_is_that_of_the_pair() -> None:
    """Packets of other pairs arrive."""
    table = DelayTable([[1.0, 1.0], [1.0, 1.0]], 0.0, [[0.0, 0.5], [0.5, 0.0]], seed=5)
    assert not any(table.is_lost(0, 0) for _ in range(100))
    assert statistics.fmean(table.is_lost(1, 0) for _ in range(20_000)) == pytest.approx(0.5, abs=0.02)
