"""Hours of the week without moves for gains."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from bridge.freeze_windows import FreezeWindow, never_open

ROME = "Europe/Rome"


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("2026-11-23T07:59", False),  # a Monday
        ("2026-11-23T08:00", True),
        ("2026-11-23T17:59", True),
        ("2026-11-23T18:00", False),
        ("2026-11-24T12:00", False),
    ],
)
def test_a_window_of_a_day(when, holds):
    """The end is not in it."""
    assert FreezeWindow(days=("mon",), begin="08:00", end="18:00").holds(at(when)) is holds


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("2026-11-23T21:59", False),
        ("2026-11-23T22:00", True),
        ("2026-11-24T05:59", True),
        ("2026-11-24T06:00", False),
        ("2026-11-24T22:30", False),
        ("2026-11-23T03:00", False),  # of the Sunday before
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins(when, holds):
    """From Monday evening to Tuesday morning."""
    assert FreezeWindow(days=("mon",), begin="22:00", end="06:00").holds(at(when)) is holds


def test_hours_are_those_of_the_time_zone_whatever_the_season():
    """Eight in Rome is seven or six in UTC."""
    window = FreezeWindow(begin="08:00", end="09:00", timezone=ROME)
    for day in ("2026-01-15", "2026-07-15"):
        assert window.holds(at(f"{day}T08:30", ROME))
        assert not window.holds(at(f"{day}T08:30"))


def test_a_whole_day_and_a_whole_week():
    """Only the latter is never open."""
    day = FreezeWindow(days=("sun",), begin="00:00", end="24:00")
    assert day.holds(at("2026-11-22T23:59"))
    assert not day.holds(at("2026-11-23T00:00"))
    assert not never_open((day,))
    assert never_open((FreezeWindow(begin="00:00", end="24:00"),))
    assert never_open((FreezeWindow(begin="08:00", end="20:00"), FreezeWindow(begin="20:00", end="08:00")))
    assert not never_open(
        (FreezeWindow(begin="08:00", end="20:00"), FreezeWindow(begin="20:01", end="08:00"))
    )
    assert not never_open(())


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"begin": "08:00", "end": "08:00"}, "is empty or never ends"),
        ({"begin": "8:00", "end": "09:00"}, "should match pattern"),
        ({"begin": "24:00", "end": "09:00"}, "should match pattern"),
        ({"begin": "08:00", "end": "09:00", "days": []}, "at least 1 item"),
        ({"begin": "08:00", "end": "09:00", "days": ["monday"]}, "Input should be 'mon'"),
        (
            {"begin": "08:00", "end": "09:00", "timezone": "Rome"},
            "'Rome' is no time zone such as Europe/Rome",
        ),
        ({"begin": "08:00", "end": "09:00", "timezone": "../x"}, "is no time zone such as Europe/Rome"),
        ({"begin": "08:00"}, "Field required"),
    ],
)
def test_what_is_no_window_is_refused(fields, reason):
    """With the field."""
    with pytest.raises(ValidationError, match=reason):
        FreezeWindow.model_validate(fields)


def test_a_window_says_when_it_is():
    """For status lines."""
    assert str(FreezeWindow(begin="08:00", end="18:00")) == "08:00 to 18:00 UTC"
    window = FreezeWindow(days=("sat", "sun"), begin="08:00", end="18:00", timezone=ROME)
    assert str(window) == "sat, sun 08:00 to 18:00 Europe/Rome"
