"""Loads that go up and down within minutes, and when their items are due. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from experiments.elasticity.loads import Floats, Series
from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.loads import Load

ProfileName: TypeAlias = Literal["steps", "levels", "taxi"]
PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)
PEAK = 6.0
"""Highest value of each profile, in units of load; as in paper 003."""
_STEPS = (2.0, 4.0, 6.0, 4.0, 2.0)
_LEVELS = (2.0, 6.0, 2.0, 6.0, 2.0)
_HOURS = 24
_WEEK = "taxi-year"
_FINE_S = 0.1


def profile(name: ProfileName, run_s: float, loads: Mapping[str, Load]) -> Series:
    """Return a profile, in units of load.

    Args:
        name: `steps` and `levels` of paper 003, or `taxi`, the first day of the taxis' week.
        run_s: How long it takes, s.
        loads: Of the scenario that has the taxis' week.

    Raises:
        ExperimentError: The scenario has none.
    """
    if name != "taxi":
        values = _STEPS if name == "steps" else _LEVELS
        return Series(kind="series", values=values, every_s=run_s / len(values))
    week = loads.get(_WEEK)
    if not isinstance(week, Series) or len(week.values) < _HOURS or max(week.values[:_HOURS]) <= 0:
        raise ExperimentError(
            f"--data: it needs a load {_WEEK!r} of the kind series with {_HOURS} hours or more"
        )
    day = week.values[:_HOURS]
    times = PEAK / max(day)
    return Series(kind="series", values=day, every_s=run_s / _HOURS, linear=True, times=times)


def rates_at(load: Series, times_s: Floats, unit_rate: float) -> Floats:
    """Return the rate at some times (n,), items/s; before the start it is that of the start.

    Args:
        load: In units of load.
        times_s: Since the start, s.
        unit_rate: Items/s of one unit.
    """
    return load.at(np.maximum(times_s, 0.0), 0) * unit_rate


def due_times(load: Series, run_s: float, warm_up_s: float, unit_rate: float, seed: int) -> Floats:
    """Return when items are due (n,), s since the start; those of the warm-up are negative.

    Arrivals are random and independent of each other (a Poisson process), the same for one seed.

    Args:
        load: In units of load.
        run_s: How long it goes on, s.
        warm_up_s: How long the rate of the start is fed before, s.
        unit_rate: Items/s of one unit.
        seed: Of all chance.
    """
    grid = np.arange(-warm_up_s, run_s, _FINE_S)
    until = np.append(grid[1:], run_s)
    expected = np.concatenate(
        ([0.0], np.cumsum(rates_at(load, (grid + until) / 2, unit_rate) * (until - grid)))
    )
    chance = np.random.default_rng(seed)
    # of the process with the rate 1 more than enough: ten standard deviations
    count = int(expected[-1] + 10.0 * np.sqrt(expected[-1]) + 10.0)
    moments = np.cumsum(chance.exponential(size=count))
    found: Floats = np.interp(moments[moments < expected[-1]], expected, np.concatenate((grid[:1], until)))
    return found
