"""What all turns of an experiment share; kept in its folder, so that it goes on as it began."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ExperimentSettings:
    """How every turn runs.

    Attributes:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area.
        rate: Rows per second after the fast ones.
        warm_up_s: Seconds at that rate whose response times are cut off.
        measure_s: Seconds at that rate that count.
        settle_s: Seconds from the lab being ready to the first turn, in which coordinates converge.
        seed: Seed of the order.
    """

    data: Path
    sites: Path
    rate: float
    warm_up_s: float
    measure_s: float
    settle_s: float
    seed: int

    @property
    def warm_up_rows(self) -> int:
        """Rows of the warm-up."""
        return math.ceil(self.warm_up_s * self.rate)

    @property
    def measured_rows(self) -> int:
        """Rows that are measured."""
        return math.ceil(self.measure_s * self.rate)

    def fast_rows(self, rows: int) -> int:
        """Return how many of the file's rows are fed fast.

        Raises:
            ExperimentError: The file has too few rows.
        """
        paced = self.warm_up_rows + self.measured_rows
        if paced > rows:
            raise ExperimentError(
                f"--measure-s: {self.warm_up_s:g} + {self.measure_s:g} s at {self.rate:g} rows/s are {paced} "
                f"rows, more than the {rows} of {self.data}"
            )
        return rows - paced
