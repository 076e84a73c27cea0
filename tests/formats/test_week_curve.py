"""What is usual at an hour of the week, and what follows for hours to come."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from formats.week_curve import HOURS, HourMean, WeekCurve, hour_of_week


@pytest.mark.parametrize(
    ("moment", "hour"),
    [
        (datetime(2026, 11, 23, 0, 0, tzinfo=UTC), 0),  # a Monday
        (datetime(2026, 11, 23, 0, 59, 59, tzinfo=UTC), 0),
        (datetime(2026, 11, 24, 13, 30, tzinfo=UTC), 37),
        (datetime(2026, 11, 29, 23, 0, tzinfo=UTC), 167),
        (datetime(1970, 1, 1, 0, 0, tzinfo=UTC), 72),
    ],
)
def test_the_week_begins_on_monday(moment: datetime, hour: int) -> None:
    assert hour_of_week(moment.timestamp()) == hour


def test_the_mean_is_that_of_all_weeks() -> None:
    curve = WeekCurve()
    for value in (1.0, 3.0, 8.0):
        curve = curve.with_hour(5, value)
    assert curve.hours.keys() == {5}
    assert curve.hours[5] == pytest.approx((4.0, 3))


def test_with_a_least_weight_old_weeks_are_forgotten() -> None:
    """First as the plain mean, so that the first week does not stay the only one."""
    curve = WeekCurve().with_hour(5, 10.0, 0.25).with_hour(5, 20.0, 0.25)
    assert curve.hours[5].mean == pytest.approx(15.0)
    for _ in range(20):
        curve = curve.with_hour(5, 2.0, 0.25)
    assert curve.hours[5].mean == pytest.approx(2.0, abs=0.1)
    assert curve.hours[5].weeks == 22


def test_an_hour_never_seen_has_no_forecast() -> None:
    """Which is not 0: nothing is known of it."""
    curve = WeekCurve({3: HourMean(4.0, 1), 4: HourMean(0.0, 1)})
    assert curve.factors(3, 3) == (0.0, None, None)
    assert curve.factor(3, 5) is None


def test_against_an_hour_without_load_there_is_no_factor() -> None:
    assert WeekCurve({3: HourMean(4.0, 1), 4: HourMean(0.0, 1)}).factor(3, 4) is None


def test_a_factor_is_what_is_usual_then_over_what_is_usual_now() -> None:
    """Also over the end of the week."""
    curve = WeekCurve({167: HourMean(4.0, 2), 0: HourMean(6.0, 2), 1: HourMean(1.0, 1)})
    assert curve.factors(167, 2) == (1.5, 0.25)
    assert curve.factors(167, 2, least_weeks=2) == (1.5, None)


@pytest.mark.parametrize("hours", [{HOURS: HourMean(1.0, 1)}, {0: HourMean(-1.0, 1)}, {0: HourMean(1.0, 0)}])
def test_a_curve_that_cannot_be_is_refused(hours: dict[int, HourMean]) -> None:
    with pytest.raises(ValueError, match="hour"):
        WeekCurve(hours)
