"""The rows of a turn that are measured, with all their stamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.csv_table import read_whole_numbers
from replay.errors import DataError
from replay.stream_files import RESULT_COLUMNS, RESULTS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from replay.analysis.kept_turn import Done

TRAILS = "trails.csv"
_ON_THE_WAY = ("parser", "filterByCoordinates", "computeRouteID", "countByWindow", "partialRank")
STAMPS = (*(f"{name}_{end}_us" for name in _ON_THE_WAY for end in ("in", "out")), "globalRank_in_us")
CLOCK = "countByWindow_clock_us"


def read_rows(turn: Path, done: Done) -> pd.DataFrame:
    """Read the measured rows of a turn: those fed at the rate, without the warm-up.

    Returns:
        One line per answered row: the columns of results.csv, and those of trails.csv in microseconds after
        the source's emit.

    Raises:
        DataError: A file is missing or malformed, the two do not hold the same rows, or none is measured.
    """
    results = read_whole_numbers(turn / RESULTS, RESULT_COLUMNS)
    trails = read_whole_numbers(turn / TRAILS, ("n", *STAMPS, CLOCK))
    if not results["n"].equals(trails["n"]):
        raise DataError(f"{turn / TRAILS}: its rows are not those of {RESULTS}")
    rows = results.merge(trails, on="n")
    first = done.fast_rows + done.warm_up_rows
    measured = rows[(rows["n"] > first) & (rows["n"] <= first + done.measured_rows)]
    if measured.empty:
        raise DataError(f"{turn / RESULTS}: none of the rows {first + 1} to {first + done.measured_rows}")
    return measured.reset_index(drop=True)
