"""The rows of a scenario: when each was available, when its result was there, and which have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field

from experiments.folder_content import read_model
from replay.csv_table import read_whole_numbers
from replay.errors import DataError
from replay.output import MARK
from replay.stream_files import RESULT_COLUMNS, RESULTS, SUMMARY

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.adaptation.report.kept import ScenarioDone
    from scheduler.base.arrays import FloatArray, IntArray

_Count = Annotated[int, Field(ge=0)]


_COUNTER = "filterByCoordinates"
"""The component that counts the rows that pass."""


class _Summary(BaseModel):
    passed: _Count | None
    repeated: _Count = 0  # in runs recorded before results were written exactly once
    began: dict[str, int] = {}  # likewise
    replayed: _Count = 0


@dataclass(frozen=True, eq=False)
class Deliveries:
    """The paced rows that should have a result, by the time they were available, and what all rows came to.

    Attributes:
        numbers: (n_rows,) row of the taxi file.
        available_s: (n_rows,) unix time at which the row was in Redis; of a row without result it is
            interpolated between its neighbours', as rows come at a fixed rate.
        response_ms: (n_rows,) until its first result was in Redis; infinite for a row without result.
        wanted: Rows that should have a result, fast ones included; None if that is not known.
        lost: Those of them that have none.
        repeated: Results that came once more.
        replayed: Rows that the source sent again.
        by_expected_answers: Whether `wanted` is from the expected answers. If not, it is the query's own
            count (unless the component that counts was restarted or has not stated it), lost rows have no
            number, and only rows with a result are listed.
    """

    numbers: IntArray
    available_s: FloatArray
    response_ms: FloatArray
    wanted: int | None
    lost: int | None
    repeated: int
    replayed: int
    by_expected_answers: bool

    @property
    def result_s(self) -> FloatArray:
        """(n_rows,) unix time at which the first result was there; infinite without one."""
        return self.available_s + self.response_ms / 1000.0


def read_deliveries(turn: Path, done: ScenarioDone, expected: Path) -> Deliveries:
    """Read what became of the rows of a scenario.

    Args:
        turn: The scenario's folder.
        done: What it was.
        expected: Folder of the expected answers; it may be missing.

    Raises:
        DataError: A file is missing or malformed, or no paced row has a result.
    """
    path = turn / RESULTS
    found = read_whole_numbers(path, RESULT_COLUMNS)
    summary = read_model(_Summary, turn / SUMMARY)
    early = found.index[found["result_ms"] < found["row_ms"]]
    if len(early):
        raise DataError(f"{path}: line {early[0] + 2}: the result is older than its row")
    first = found.sort_values(["n", "result_ms"]).drop_duplicates("n")
    fed = done.fast_rows + done.paced_rows
    paced = first[(first["n"] > done.fast_rows) & (first["n"] <= fed)]
    if paced.empty:
        raise DataError(f"{path}: none of the paced rows {done.fast_rows + 1} to {fed} has a result")
    passed = _passed(expected, fed)
    numbers = paced["n"].to_numpy(dtype=np.int64)
    if passed is not None:
        numbers = np.union1d(numbers, passed[passed > done.fast_rows])
    available_s, response_ms = _times(numbers, paced, done.rate)
    order = np.argsort(available_s, kind="stable")
    wanted: int | None
    if passed is not None:
        wanted, answered = len(passed), int(np.isin(passed, first["n"].to_numpy()).sum())
    else:
        # without the run's final entry it is not known how many passed
        wanted, answered = None if _COUNTER in summary.began else summary.passed, len(first)
    return Deliveries(
        numbers=numbers[order],
        available_s=available_s[order],
        response_ms=response_ms[order],
        wanted=wanted,
        lost=None if wanted is None else max(wanted - answered, 0),
        repeated=summary.repeated + len(found) - len(first),
        replayed=summary.replayed,
        by_expected_answers=passed is not None,
    )


def _passed(expected: Path, fed: int) -> IntArray | None:
    """Return the fed rows that pass the filter; None if there are no expected answers."""
    if not (expected / MARK).is_file():
        return None
    path = expected / "passed.parquet"
    try:
        lines = pd.read_parquet(path, columns=["line"])["line"].to_numpy(dtype=np.int64)
    except (OSError, ValueError, KeyError) as error:  # pyarrow's errors are kinds of these
        raise DataError(f"{path}: cannot be read: {error}") from error
    return np.sort(lines[lines <= fed])


def _times(numbers: IntArray, answered: pd.DataFrame, rate: float) -> tuple[FloatArray, FloatArray]:
    known = answered["n"].to_numpy(dtype=np.int64)
    row_s = answered["row_ms"].to_numpy(dtype=np.float64) / 1000.0
    # beyond the first and last known row there is only the rate to go by
    outside = (np.minimum(numbers - known[0], 0) + np.maximum(numbers - known[-1], 0)) / rate
    available_s = np.interp(numbers, known, row_s) + outside
    response_ms = np.full(len(numbers), np.inf)
    place = np.searchsorted(numbers, known)
    available_s[place] = row_s
    response_ms[place] = answered["result_ms"].to_numpy(dtype=np.float64) - row_s * 1000.0
    return available_s, response_ms
