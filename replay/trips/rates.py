"""How many trips end in each minute: the hours of the week, and chance.

The profile is the year 2013 of the challenge's data (173,167,790 trips), counted per minute by a public trace
of the simulator grussorusso/dsp-elasticity-sim (traces/profile.dat): its hours relative to the mean of the
year, by kind of day. Between the centres of the hours the rate is taken as linear. Around it a minute varies
by 7 % in that trace at 330 trips per minute, of which chance (Poisson) is 5.5 %; the rest is drawn here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from replay.trips.settings import Settings
    from scheduler.base.arrays import FloatArray, IntArray

YEAR_ROWS_PER_DAY = 474_433
"""Mean of the year, 173,167,790 trips in 365 days: 5.49/s, with 8.7/s at the busiest hours."""
HOURS = 24
MINUTES = 60
_NOISE = 0.043
_EARLIEST_MONDAY = 4  # 1970-01-05

_PROFILE = {
    "Mon-Thu": ".51 .32 .20 .17 .20 .44 .86 1.17 1.28 1.20 1.12 1.15 "
    "1.14 1.17 1.17 1.03 1.06 1.37 1.57 1.53 1.48 1.41 1.24 .94",
    "Fri": ".89 .58 .38 .28 .24 .44 .83 1.14 1.27 1.22 1.15 1.18 "
    "1.16 1.18 1.16 1.01 1.03 1.35 1.59 1.59 1.55 1.54 1.57 1.52",
    "Sat": "1.37 1.14 .88 .63 .34 .26 .34 .50 .72 .91 1.06 1.17 "
    "1.23 1.22 1.21 1.11 1.12 1.32 1.49 1.47 1.43 1.46 1.56 1.56",
    "Sun": "1.46 1.25 1.00 .73 .39 .26 .28 .39 .57 .80 1.00 1.12 "
    "1.17 1.17 1.13 1.05 1.06 1.18 1.22 1.11 1.02 .96 .83 .65",
}


def minute_rates(hour: int) -> FloatArray:
    """Return the rate of each minute of an hour, relative to the mean of the year.

    Args:
        hour: Hours since 1970.
    """
    centres = np.array([_hour_rate(hour + step) for step in (-1, 0, 1)])
    minutes = (np.arange(MINUTES) + 0.5) / MINUTES
    return np.asarray(np.interp(minutes, (-0.5, 0.5, 1.5), centres))


def trips_per_minute(settings: Settings, hour: int) -> IntArray:
    """Return how many trips end in each of the 60 minutes of an hour (hours since 1970)."""
    stream = settings.stream("minutes", hour)
    mean = minute_rates(hour) * settings.rows_per_day / (HOURS * MINUTES)
    return stream.poisson(mean * np.maximum(0.0, 1.0 + _NOISE * stream.standard_normal(MINUTES)))


def _hour_rate(hour: int) -> float:
    day, of_day = divmod(hour, HOURS)
    weekday = (day - _EARLIEST_MONDAY) % 7
    kind = "Mon-Thu" if weekday < 4 else ("Fri", "Sat", "Sun")[weekday - 4]
    return float(_PROFILE[kind].split()[of_day])
