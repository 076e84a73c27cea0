"""Profiles of load, and when items are due."""

from __future__ import annotations

import numpy as np
import pytest

from cli.experiment.experiment_elasticity import DATA
from experiments.elasticity.scenario_file import read_scenario
from experiments.errors import ExperimentError
from experiments.lab_elasticity.profiles import PEAK, PROFILES, due_times, profile

LOADS = read_scenario(DATA).load


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_goes_up_to_the_peak_and_down_again(name: str) -> None:
    load = profile(name, 720.0, 10.0, 2, LOADS)  # type: ignore[arg-type]
    rates = load.rates(np.arange(0.0, 720.0, 1.0))
    assert load.highest(720.0, 30.0) == pytest.approx(PEAK * 10.0, rel=0.04)
    assert rates.min() < 0.4 * rates.max()
    assert rates[-1] < rates.max()


@pytest.mark.parametrize("name", PROFILES)
def test_items_are_due_at_the_rates_of_the_profile(name: str) -> None:
    load = profile(name, 720.0, 10.0, 1, LOADS)  # type: ignore[arg-type]
    due = due_times(load, 720.0, 30.0, seed=3)
    assert np.all(np.diff(due) > 0)
    assert due[0] >= -30.0
    assert due[-1] <= 720.0
    for begin in range(0, 720, 60):
        expected = load.rates(np.arange(begin, begin + 60.0, 0.1)).mean() * 60.0
        count = ((due >= begin) & (due < begin + 60)).sum()
        assert abs(count - expected) < 5.0 * np.sqrt(expected)


def test_the_warm_up_has_the_first_rate() -> None:
    load = profile("steps", 500.0, 10.0, 1, LOADS)
    due = due_times(load, 500.0, 60.0, seed=1)
    assert abs((due < 0.0).sum() - 1200) < 5 * np.sqrt(1200)


def test_one_seed_gives_the_same_items_and_another_one_others() -> None:
    load = profile("levels", 100.0, 10.0, 1, LOADS)
    one, again, other = (due_times(load, 100.0, 10.0, seed) for seed in (1, 1, 2))
    assert one.tolist() == again.tolist()
    assert one.tolist() != other.tolist()


def test_a_scenario_without_the_week_is_refused() -> None:
    with pytest.raises(ExperimentError, match="it needs a load 'taxi-year'"):
        profile("taxi", 100.0, 10.0, 1, {})


def test_a_day_of_the_taxis_has_the_noise_of_its_seed() -> None:
    """A minute of the day passes in half a second, and lasts no longer."""
    one, other = (profile("taxi", 720.0, 10.0, seed, LOADS) for seed in (1, 2))
    times_s = np.arange(0.25, 720.0, 0.5)
    assert one.rates(times_s).tolist() != other.rates(times_s).tolist()
    ratio = one.rates(times_s) / np.convolve(one.rates(times_s), np.full(41, 1 / 41), "same")
    assert 0.05 < ratio[50:-50].std() < 0.1
