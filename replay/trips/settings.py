"""What the made-up load depends on: a seed and a rate, and with them a stream of chance per hour and use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.trips.rates import YEAR_ROWS_PER_DAY

YEAR_TAXIS = 14_144
"""Different medallions in the year 2013."""
_SPARE_TAXIS = 200
_PURPOSES = ("minutes", "trips", "taxis", "idle", "details", "vendors")


@dataclass(frozen=True)
class Settings:
    """Of a load.

    Attributes:
        seed: Of all chance, at least 0.
        rows_per_day: Mean over the year, at least 1.
    """

    seed: int
    rows_per_day: float = YEAR_ROWS_PER_DAY

    def stream(self, purpose: str, place: int = 0) -> np.random.Generator:
        """Return the random numbers of a purpose for an hour or day, the same wherever they are drawn.

        Args:
            purpose: One of `minutes`, `trips`, `taxis`, `idle`, `details`, `vendors`.
            place: Hours or days since 1970.
        """
        key = (_PURPOSES.index(purpose), place)
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))

    @property
    def taxis(self) -> int:
        """Size of the fleet: the year's at the year's rate."""
        return int(YEAR_TAXIS * self.rows_per_day / YEAR_ROWS_PER_DAY) + _SPARE_TAXIS
