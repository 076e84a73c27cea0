"""The taxi queries: rows are fed from a file, answers are verified on Spark."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Literal

from experiments.errors import ExperimentError
from experiments.topologies.description import Description, FeedCommand
from replay.output import MARK
from replay.pipeline import evaluate_runs
from topologies.taxi.topology import component_ids

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.topologies.description import Say

Query = Literal["1", "2", "both"]
QUERIES: tuple[Query, ...] = ("1", "2", "both")

_ENDS: dict[Query, tuple[str, ...]] = {
    "1": ("dataSource", "globalRank"),
    "2": ("dataSource", "globalAreaRank"),
    "both": ("dataSource", "globalRank", "globalAreaRank"),
}


def taxi_query(data: Path, query: Query = "1") -> Description:
    """Describe the topology that answers one query, or both.

    Args:
        data: The rows that will be fed, from which the expected answers are computed.
        query: Which.
    """

    def verify(expected: Path, runs: Sequence[Path], say: Say) -> bool:
        source = None if (expected / MARK).is_file() else data
        evaluations = evaluate_runs(expected, runs, source=source, say=say)
        return all(evaluation.verdict.equal for evaluation in evaluations)

    return Description(
        name="taxi",
        group="taxi",
        title="the taxi query",
        components=component_ids(("1", "2") if query == "both" else (query,)),
        ends=_ENDS[query],
        verify=verify,
        submit=("--query", query),
    )


def at_rate(data: Path, fast_rows: int, rate: float, paced_rows: int, together: int = 1) -> FeedCommand:
    """Feed some rows as fast as they are consumed and, when their results are there, others at a rate.

    Args:
        data: Rows of 17 columns.
        fast_rows: How many go first.
        rate: Rows per second after them.
        paced_rows: How many go at that rate.
        together: How many of these come at once.
    """
    counts: tuple[str, ...] = ("--fast-rows", str(fast_rows), "--rate", str(rate))
    counts += ("--paced-rows", str(paced_rows))
    title = f"{fast_rows} rows fast, then {paced_rows} rows at {rate:g} rows/s"
    if together > 1:
        counts += ("--together", str(together))
        title += f", {together} at once"
    return FeedCommand(title, "feed", (str(data), *counts))


def at_speed(data: Path, fast_rows: int, speed: float) -> FeedCommand:
    """Feed some rows fast as above, and all others at a multiple of the speed of their drop-off times."""
    arguments = (str(data), "--speed", str(speed), "--fast-rows", str(fast_rows))
    title = f"{fast_rows} rows fast, then all at {speed:g} times their speed"
    return FeedCommand(title, "replay", arguments, rejects="rejects.csv")


def count_rows(data: Path) -> int:
    """Count the rows of a taxi file, plain or gzip.

    Raises:
        ExperimentError: The file cannot be read or is truncated.
    """
    opener = gzip.open if data.suffix == ".gz" else open
    try:
        with opener(data, "rb") as lines:
            return sum(1 for _ in lines)
    except (OSError, EOFError) as error:
        raise ExperimentError(f"{data}: cannot be read: {error}") from error
