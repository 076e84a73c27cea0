"""What is usual at each hour of the week: the mean over the weeks that were seen, and how many these are.

Load goes up and down with the day and the week. From what is usual now and what is usual in an hour to come
follows by what factor it will be more or less than now, whatever today's level is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

HOURS = 168
"""Of a week."""
HOUR_S = 3600.0
_FIRST_MONDAY = 4 * 24
"""Hours from the beginning of 1970, a Thursday, to the first Monday."""


class HourMean(NamedTuple):
    """What was seen at an hour of the week.

    Attributes:
        mean: Over the weeks.
        weeks: Number of weeks in which the hour was seen (>= 1).
    """

    mean: float
    weeks: int


def hour_of_week(unix_s: float) -> int:
    """Return the hour of the week of a time in seconds since 1970; 0 begins on Monday at 00:00 UTC."""
    return int(unix_s // HOUR_S - _FIRST_MONDAY) % HOURS


@dataclass(frozen=True)
class WeekCurve:
    """The hours of the week of which something is known.

    Attributes:
        hours: By hour of the week (0 to 167); an hour that was never seen is not there, which is no 0.
    """

    hours: Mapping[int, HourMean] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for hour, seen in self.hours.items():
            if not 0 <= hour < HOURS:
                raise ValueError(f"hour {hour}: expected 0 to {HOURS - 1}")
            if not (math.isfinite(seen.mean) and seen.mean >= 0 and seen.weeks >= 1):
                raise ValueError(f"hour {hour}: expected a mean >= 0 of at least one week")

    def with_hour(self, hour: int, value: float, least_weight: float = 0.0) -> WeekCurve:
        """Return the curve after one more week's value of an hour.

        Args:
            hour: Of the week.
            value: What was seen in it (>= 0).
            least_weight: Weight of a new value beside the mean, at least (0 to 1): 0 makes a plain mean, 0.25
                forgets a week with a quarter of what is left in each later one.

        Raises:
            ValueError: The hour or the value is out of bounds.
        """
        known = self.hours.get(hour)
        weeks = 1 if known is None else known.weeks + 1
        weight = max(1.0 / weeks, least_weight)
        mean = value if known is None else known.mean + weight * (value - known.mean)
        return WeekCurve({**self.hours, hour: HourMean(mean, weeks)})

    def factor(self, hour: int, now: int, least_weeks: int = 1) -> float | None:
        """Return by what factor an hour is usually above another one; None if that is not known.

        Args:
            hour: Of the week, that of the forecast.
            now: Of the week, the hour whose level is known. Without load in it there is no factor.
            least_weeks: Weeks in which both were seen, at least.
        """
        then, base = self.hours.get(hour % HOURS), self.hours.get(now % HOURS)
        if then is None or base is None or min(then.weeks, base.weeks) < least_weeks or base.mean <= 0:
            return None
        return then.mean / base.mean

    def factors(self, now: int, count: int, least_weeks: int = 1) -> tuple[float | None, ...]:
        """Return the factors of the next `count` hours against the hour `now`, that after it first."""
        return tuple(self.factor(now + ahead, now, least_weeks) for ahead in range(1, count + 1))
