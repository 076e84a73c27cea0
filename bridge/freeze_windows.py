"""Hours of the week in which nothing that runs is moved for a gain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MINUTES_A_DAY = 24 * 60
# Any week will do that no clock is changed in.
_SOME_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is no time zone such as Europe/Rome") from None
    return name


def _minutes(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])


class FreezeWindow(BaseModel):
    """Some hours of some days of the week."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    days: tuple[Day, ...] = Field(default=DAYS, min_length=1, strict=False)
    """Days on which it begins."""
    begin: str = Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")
    """When it begins, HH:MM."""
    end: str = Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$")
    """When it is over, HH:MM; before `begin` it is on the next day."""
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    """Whose days and hours these are, such as Europe/Rome."""

    @model_validator(mode="after")
    def _has_an_end(self) -> FreezeWindow:
        if self.begin == self.end:
            raise ValueError(
                f"begins and ends at {self.begin}: is empty or never ends (a whole day is 00:00 to 24:00)"
            )
        return self

    def holds(self, unix_s: float) -> bool:
        """Whether a time is in it.

        Args:
            unix_s: Seconds since 1970.
        """
        now = datetime.fromtimestamp(unix_s, ZoneInfo(self.timezone))
        minute, begin, end = now.hour * 60 + now.minute, _minutes(self.begin), _minutes(self.end)
        today, yesterday = DAYS[now.weekday()], DAYS[(now.weekday() - 1) % 7]
        if begin < end:
            return today in self.days and begin <= minute < end
        return (today in self.days and minute >= begin) or (yesterday in self.days and minute < end)

    def __str__(self) -> str:
        days = "" if set(self.days) == set(DAYS) else f"{', '.join(self.days)} "
        return f"{days}{self.begin} to {self.end} {self.timezone}"


def never_open(windows: tuple[FreezeWindow, ...]) -> bool:
    """Whether windows leave no minute of the week free."""
    week = (_SOME_MONDAY + timedelta(minutes=minute) for minute in range(7 * _MINUTES_A_DAY))
    return bool(windows) and all(any(each.holds(time.timestamp()) for each in windows) for time in week)
