"""What is said of gains that are not enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.round.small.thresholds import Gain, Thresholds

USUAL = Thresholds(
    fraction=0.2, ms=10.0, of_f=None, horizon_s=3600.0, horizon_key="move.horizon_s", sigmas=0.0
)


def gain(fraction: float, ms: float | None = None) -> Gain:
    return Gain(fraction, ms, of_f=fraction, payback_s=None)


@pytest.mark.parametrize("limits", [USUAL, replace(USUAL, of_f=0.2)])
def test_a_gain_that_noise_brings_and_takes_does_not_change_what_is_said(limits: Thresholds) -> None:
    """Of a topology that runs well the best candidate gains nothing in one round, a little in the next."""
    said = {limits.why_not(gain(fraction)) for fraction in (-0.001, 0.0, 1e-6, 0.003, 0.0099)}
    assert said == {"no candidate is better"}


def test_a_gain_that_can_be_seen_is_said_to_be_too_small() -> None:
    """By the threshold that it does not reach."""
    assert USUAL.why_not(gain(0.05)) == "no candidate gains 20 %"
    assert USUAL.why_not(gain(0.5, ms=3.0)) == "no candidate gains 10 ms"
    assert replace(USUAL, of_f=0.2).why_not(gain(0.05)) == "no candidate gains 0.2 of F (replan.gain.min)"


def test_a_small_gain_is_enough_where_the_threshold_is_smaller() -> None:
    """What is said never decides."""
    assert replace(USUAL, fraction=0.001).why_not(gain(0.003)) == ""
    assert replace(USUAL, of_f=0.001).why_not(gain(0.003)) == ""
