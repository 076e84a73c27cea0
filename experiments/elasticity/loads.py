"""How load goes up and down in a run."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat

from bridge.settings_section import Section

Floats: TypeAlias = NDArray[np.float64]
_Level = Annotated[float, Field(ge=0)]
_BURST_S = 900.0


class Series(Section):
    """A value after the other, from the first one again after the last."""

    kind: Literal["series"]
    values: Annotated[tuple[_Level, ...], Field(min_length=1, strict=False)]
    every_s: PositiveFloat
    """How long each value lasts, or from one to the next, s."""
    linear: bool = False
    """Whether load goes in a straight line from value to value, each in the middle of its time."""
    times: PositiveFloat = 1.0
    """Factor of all values."""
    noise: _Level = 0.0
    """Standard deviation of a minute's factor."""
    burst: PositiveFloat = 1.0
    """Factor of a burst of 15 minutes, of which there is one in two days, at a random time."""

    def at(self, times_s: Floats, seed: int) -> Floats:
        """Return the load at some times (n,); see `load_at`."""
        values = np.asarray(self.values, dtype=np.float64) * self.times
        if self.linear:
            # one value before and one after, so that the line goes on around the end
            centres = (np.arange(-1, len(values) + 1) + 0.5) * self.every_s
            around = np.concatenate((values[-1:], values, values[:1]))
            level = np.interp(times_s % (len(values) * self.every_s), centres, around)
        else:
            level = values[(times_s // self.every_s).astype(np.int64) % len(values)]
        return level * self._factors(times_s, np.random.default_rng(seed))

    def _factors(self, times_s: Floats, chance: np.random.Generator) -> Floats:
        factors = np.ones_like(times_s)
        if self.noise:
            minutes = (times_s // 60.0).astype(np.int64)
            of_minute = chance.normal(1.0, self.noise, int(minutes.max()) + 1)
            factors *= np.maximum(0.0, of_minute[minutes])
        if self.burst != 1.0:
            pairs = (times_s // (2 * 86_400.0)).astype(np.int64)
            begins = chance.uniform(0.0, 2 * 86_400.0 - _BURST_S, int(pairs.max()) + 1)
            since = times_s - pairs * 2 * 86_400.0 - begins[pairs]
            factors[(since >= 0.0) & (since < _BURST_S)] *= self.burst
        return factors


class Walk(Section):
    """A random walk: one down, none or one up, with chances 1/4, 1/2 and 1/4."""

    kind: Literal["walk"]
    start: _Level
    least: _Level
    most: _Level
    every_s: PositiveFloat

    def at(self, times_s: Floats, seed: int) -> Floats:
        """Return the load at some times (n,); see `load_at`."""
        chance = np.random.default_rng(seed)
        of_step = (times_s // self.every_s).astype(np.int64)
        level, levels = self.start, [self.start]
        for step in chance.choice((-1.0, 0.0, 0.0, 1.0), int(of_step.max())).tolist():
            level = min(self.most, max(self.least, level + step))
            levels.append(level)
        return np.asarray(levels, dtype=np.float64)[of_step]


class Sinus(Section):
    """A wave."""

    kind: Literal["sinus"]
    least: _Level
    most: _Level
    period_s: PositiveFloat

    def at(self, times_s: Floats, seed: int) -> Floats:
        """Return the load at some times (n,); see `load_at`."""
        del seed
        wave: Floats = np.sin(2.0 * np.pi * times_s / self.period_s)
        return self.least + (self.most - self.least) * (1.0 + wave) / 2.0


Load: TypeAlias = Annotated[Series | Walk | Sinus, Field(discriminator="kind")]


def load_at(load: Series | Walk | Sinus, steps: int, step_s: float, seed: int) -> Floats:
    """Return the load of each step of a run (steps,), in units of load; constant within a step.

    Args:
        load: Of a scenario.
        steps: Length of the run.
        step_s: Length of a step, s.
        seed: Of what is random; the same for every policy.
    """
    times_s: Floats = (np.arange(steps, dtype=np.float64) + 0.5) * step_s
    return load.at(times_s, seed)
