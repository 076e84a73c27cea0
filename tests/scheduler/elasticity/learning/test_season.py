"""What rates are expected."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from scheduler.elasticity.learning.season import Season, SeasonParameters

DAY_S = 86_400.0
TWO_DAYS = SeasonParameters(season_s=2 * DAY_S, slot_s=3600.0)


def seen(rates: list[float], every_s: float = 600.0, parameters: SeasonParameters = TWO_DAYS) -> Season:
    season = Season.first(parameters)
    for k, rate in enumerate(rates):
        season = season.seen((k + 1) * every_s, rate, parameters)
    return season


def wave(day: int, hour: int) -> float:
    return 100.0 + 10.0 * hour + 50.0 * day


def two_days() -> list[float]:
    return [wave(day, hour) for day in (0, 1) for hour in range(24) for _ in range(6)]


def expected(season: Season, hours: float) -> float:
    return float(season.forecast(np.array([hours * 3600.0]), TWO_DAYS)[0])


def test_before_anything_was_seen_nothing_is_expected() -> None:
    assert expected(Season.first(TWO_DAYS), 1.0) == 0.0


def test_without_a_season_the_rate_stays_as_it_was() -> None:
    season = seen([100.0, 110.0])
    assert 100.0 < expected(season, 5.0) < 110.0
    assert expected(season, 5.0) == expected(season, 40.0)


def test_after_a_season_what_was_seen_is_expected_again() -> None:
    season = seen([*two_days(), 100.0])
    assert expected(season, 48.0 + 5.5) == pytest.approx(wave(0, 5), rel=0.01)
    assert expected(season, 48.0 + 29.5) == pytest.approx(wave(1, 5), rel=0.01)
    assert expected(season, 48.0 + 6.0) == pytest.approx(wave(0, 5) + 5.0, rel=0.005), "in a straight line"


def test_before_it_the_other_day_counts() -> None:
    day = two_days()[: 24 * 6]
    assert expected(seen([*day, 100.0]), 24.0 + 5.5) == pytest.approx(wave(0, 5), rel=0.01)


def test_what_is_above_the_usual_now_fades() -> None:
    """An hour later 1/e of the difference is left."""
    season = seen([*two_days(), *[120.0] * 3])
    last_s = season.recent[-1][0]
    base = replace(season, recent=tuple((until_s, 100.0) for until_s, _ in season.recent))
    factor = [
        float((season.forecast(at, TWO_DAYS) / base.forecast(at, TWO_DAYS))[0])
        for at in (np.array([last_s]), np.array([last_s + 100 * 3600.0]))
    ]
    assert factor == pytest.approx([1.2, 1.0], rel=0.01)


def test_a_jump_begins_a_new_level() -> None:
    calm = [100.0 + (-1) ** k for k in range(60)]
    assert expected(seen(calm), 11.0) == pytest.approx(100.0, abs=1.0)
    assert expected(seen([*calm, 300.0]), 11.0) == 300.0
    assert expected(seen([*calm, 101.5]), 11.0) < 101.5, "what is no jump moves the level"


def test_noise_is_that_of_rates_beside_their_forecasts() -> None:
    """And a jump is none."""
    chance = np.random.default_rng(1)
    rates = [float(each) for each in chance.normal(100.0, 5.0, 2000)]
    season = seen(rates, every_s=60.0)
    assert math.sqrt(season.noise) == pytest.approx(0.05, rel=0.25)
    after = season.seen(2001 * 60.0, 500.0, TWO_DAYS)
    assert after.noise == season.noise


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"season_s": 90_000.0}, "season_s: expected whole days of 86400 s, got 90000"),
        ({"slot_s": 7000.0}, "slot_s: expected a whole number of them in a day, got 7000"),
        ({"fades_s": 0.0}, "fades_s: expected a number > 0, got 0.0"),
        ({"jump": 0.0}, "jump: expected a number > 0, got 0.0"),
    ],
)
def test_parameters_that_are_refused(changed: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        SeasonParameters(**changed)
