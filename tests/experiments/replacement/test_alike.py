"""Noisy series count as alike, and as unchanged, but for what chance does not explain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.replacement.alike import alike, since_change
from experiments.replacement.student import farthest

SPREAD = 0.05


def drawn(seed: int, means: list[float], count: int = 8) -> list[list[float]]:
    """Readings of one series per mean."""
    return np.random.default_rng(seed).normal(np.array(means)[:, None], SPREAD, (len(means), count)).tolist()


@pytest.mark.parametrize(
    ("freedom", "chance", "quantile"),
    [(10, 0.001, 4.587), (20, 0.001, 3.850), (10, 0.0001, 6.211), (40, 0.0001, 4.321)],
)
def test_quantiles_are_those_of_the_tables(freedom: int, chance: float, quantile: float) -> None:
    assert farthest(freedom, chance) == pytest.approx(quantile, rel=0.01)


def test_a_spread_of_few_readings_shows_nothing() -> None:
    assert farthest(9, 0.05) == math.inf


def test_what_differs_by_noise_alone_is_alike() -> None:
    """In 200 draws of five series with the same mean all get the same value."""
    assert all(np.ptp(alike(drawn(seed, [0.9] * 5))) == 0 for seed in range(200))


def test_of_a_difference_counts_what_chance_leaves_over() -> None:
    """A mean that is far off counts, but not in full, and what is common to the others leaves it out."""
    series = drawn(1, [0.9, 0.9, 0.9, 0.5])
    values = alike(series)
    assert values[:3] == pytest.approx(np.mean(series[:3]), abs=0.001)
    assert np.mean(series[3]) + SPREAD < values[3] < 0.8


def test_what_never_varies_is_what_it_is() -> None:
    """So are single readings as long as nothing was read twice."""
    assert alike([[1.0, 1.0], *drawn(2, [0.9, 0.9])])[0] == 1.0
    assert alike([[0.8], [0.9], [0.7]]).tolist() == [0.8, 0.9, 0.7]


def test_one_reading_has_the_spread_of_the_others() -> None:
    """What has just come is alike, and stands out with its first reading where that is far off."""
    before = drawn(3, [0.9, 0.9])
    assert np.ptp(alike([*before, [0.82]])) == 0
    assert alike([*before, [0.3]])[2] < 0.8


def test_a_change_ends_the_history() -> None:
    """Only what was read since counts, from the first reading on if it is far off."""
    (read,), others = drawn(4, [0.9]), drawn(5, [0.9, 0.9])
    assert since_change([*read, 0.4], others) == [0.4]
    assert since_change([*read, 0.66, 0.7, 0.68], others) == [0.66, 0.7, 0.68]
    assert since_change([1.0, 1.0, 0.9], others) == [0.9]


def test_noise_is_no_change() -> None:
    """In 300 draws of twelve readings none counts as changed more often than was stated."""
    series = [drawn(seed, [0.9] * 3, 12) for seed in range(300)]
    assert sum(len(since_change(read, others)) < 12 for read, *others in series) <= 2
