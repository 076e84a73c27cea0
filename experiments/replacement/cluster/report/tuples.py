"""The tuples of a turn: when each was emitted and first came to the sink, what was lost, what came again."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from experiments.folder_content import read_model
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from scheduler.base.arrays import FloatArray

SUMMARY, TUPLES = "summary.json", "tuples.csv"


class _Workload(BaseModel):
    tuples: int


class _Summary(BaseModel):
    workload: _Workload
    replayed: int


@dataclass(frozen=True, eq=False)
class Tuples:
    """What came to the sink, by number; of tuples that came more than once the first arrival.

    Attributes:
        emitted_s: (n,) Unix time at which the source first emitted it.
        response_s: (n,) from then until the sink had done its work.
        work_s: (n,) for how long operators had it.
        lost: Tuples that the source should have emitted and that never came.
        repeated: Arrivals of tuples that had come before.
        replayed: Tuples that the source sent again.
    """

    emitted_s: FloatArray
    response_s: FloatArray
    work_s: FloatArray
    lost: int
    repeated: int
    replayed: int

    @property
    def arrived_s(self) -> FloatArray:
        """(n,) Unix times of the first arrivals, ascending."""
        return np.sort(self.emitted_s + self.response_s)

    def silence_s(self, from_s: float, until_s: float) -> float:
        """Return the longest time without a first arrival that ends within a span of Unix time, s."""
        arrived = self.arrived_s
        gaps = np.diff(arrived)
        ending = (arrived[1:] > from_s) & (arrived[1:] <= until_s)
        return float(gaps[ending].max(initial=0.0))

    def median_s(self, values: FloatArray, from_s: float, until_s: float) -> float | None:
        """Return the median of values of tuples that were emitted in a span; None without one."""
        chosen = values[(self.emitted_s >= from_s) & (self.emitted_s <= until_s)]
        return float(np.median(chosen)) if chosen.size else None


def read_tuples(folder: Path) -> Tuples:
    """Read what `synthetic collect` left.

    Raises:
        DataError: A file is missing or of another form.
    """
    summary = read_model(_Summary, folder / SUMMARY)
    try:
        first: dict[int, tuple[int, int, int]] = {}
        arrivals = 0
        with (folder / TUPLES).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                arrivals += 1
                came = (int(row["delay_us"]), int(row["emit_us"]), int(row["work_us"]))
                number = int(row["n"])
                first[number] = min(first.get(number, came), came)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: no files of `synthetic collect`: {error}") from error
    if not first:
        raise DataError(f"{folder / TUPLES}: no tuple came to the sink")
    delay_us, emit_us, work_us = np.array([first[number] for number in sorted(first)], dtype=np.float64).T
    return Tuples(
        emitted_s=emit_us / 1e6,
        response_s=delay_us / 1e6,
        work_s=work_us / 1e6,
        lost=summary.workload.tuples - len(first),
        repeated=arrivals - len(first),
        replayed=summary.replayed,
    )
