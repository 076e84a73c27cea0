"""Loads that go up and down within minutes, and when their items are due. Pure."""

from __future__ import annotations

from dataclasses import dataclass
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
_HOURS, _DAY_S = 24, 86_400.0
_BEGINS_S = 4 * 3600.0
"""At four in the morning there are the fewest trips, s of the day."""
_WEEK = "taxi-year"
_FINE_S = 0.1


@dataclass(frozen=True)
class ProfileDefaults:
    """How a profile is run if nothing else is said.

    Attributes:
        run_s: How long it takes, s.
        unit_rate: Items/s of one unit: what the peak needs has room on the lab's hosts.
    """

    run_s: float
    unit_rate: float


@dataclass(frozen=True)
class Profile:
    """A load that goes up and down in a run.

    Attributes:
        load: In units of load.
        unit_rate: Items/s of one unit.
        faster: For so many seconds of the load a second of the run stands.
        begins_s: Where in the load a run begins, s.
        seed: Of what is random in the load.
    """

    load: Series
    unit_rate: float
    faster: float = 1.0
    begins_s: float = 0.0
    seed: int = 0

    def rates(self, times_s: Floats) -> Floats:
        """Return the rate at some times (n,), items/s; before the start it is that of the start.

        Args:
            times_s: Since the start of the run, s.
        """
        of_load_s = self.begins_s + np.maximum(times_s, 0.0) * self.faster
        return self.load.at(of_load_s, self.seed) * self.unit_rate

    def highest(self, run_s: float, over_s: float) -> float:
        """Return the highest rate of a run, items/s, as a mean over some seconds."""
        rates = self.rates(np.arange(0.0, run_s, _FINE_S))
        width = min(len(rates), max(1, round(over_s / _FINE_S)))
        return float(np.convolve(rates, np.full(width, 1.0 / width), "valid").max())


def profile(
    name: ProfileName, run_s: float, unit_rate: float, seed: int, loads: Mapping[str, Load]
) -> Profile:
    """Return a profile.

    Args:
        name: `steps` and `levels` of paper 003, or `taxi`, a day of the taxis with its noise.
        run_s: How long it takes, s.
        unit_rate: Items/s of one unit; the highest value has six, noise aside.
        seed: Of the noise.
        loads: Of the scenario that has the taxis' week.

    Raises:
        ExperimentError: The scenario has none.
    """
    if name != "taxi":
        values = _STEPS if name == "steps" else _LEVELS
        return Profile(Series(kind="series", values=values, every_s=run_s / len(values)), unit_rate)
    week = loads.get(_WEEK)
    if not isinstance(week, Series) or len(week.values) < _HOURS or max(week.values[:_HOURS]) <= 0:
        raise ExperimentError(
            f"--data: it needs a load {_WEEK!r} of the kind series with {_HOURS} hours or more"
        )
    scaled = week.model_copy(update={"times": PEAK / max(week.values[:_HOURS])})
    return Profile(scaled, unit_rate, _DAY_S / run_s, _BEGINS_S, seed)


def due_times(load: Profile, run_s: float, warm_up_s: float, seed: int) -> Floats:
    """Return when items are due (n,), s since the start; those of the warm-up are negative.

    Arrivals are random and independent of each other (a Poisson process), the same for one seed.

    Args:
        load: Which rates.
        run_s: How long it goes on, s.
        warm_up_s: How long the rate of the start is fed before, s.
        seed: Of all chance.
    """
    grid = np.arange(-warm_up_s, run_s, _FINE_S)
    until = np.append(grid[1:], run_s)
    expected = np.concatenate(([0.0], np.cumsum(load.rates((grid + until) / 2) * (until - grid))))
    chance = np.random.default_rng(seed)
    # of the process with the rate 1 more than enough: ten standard deviations
    count = int(expected[-1] + 10.0 * np.sqrt(expected[-1]) + 10.0)
    moments = np.cumsum(chance.exponential(size=count))
    found: Floats = np.interp(moments[moments < expected[-1]], expected, np.concatenate((grid[:1], until)))
    return found
