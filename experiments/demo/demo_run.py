"""The demo: one topology in one lab under several schedulers, verified, side by side."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from experiments.errors import ExperimentError
from experiments.machine import provenance
from experiments.reports import comparison
from experiments.run_folder import run_folder
from experiments.running_lab import lab_sites
from experiments.series import STEPS_PER_TURN, Member, Series, run_series
from experiments.topologies.description import turn_under
from experiments.topologies.taxi_query import at_rate, count_rows, taxi_query
from experiments.turn_run import run_turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.progress import Display
    from lab.storm_config import SchedulerName

TABLE_WIDTH = 150
"""Columns of the table where no terminal says how wide it is."""
_OTHER_STEPS = 3


def run_demo(
    data: Path,
    sites: Path,
    out: Path,
    display: Display,
    *,
    paced_rows: int,
    rate: float,
    schedulers: Sequence[SchedulerName],
    strategy: str | None = None,
) -> None:
    """Run the whole demo and print its table.

    Args:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area.
        out: Folder that receives one run folder per demo.
        display: Shows the steps.
        paced_rows: Rows at the end of the file that are sent at `rate`; response times are taken from these.
        rate: Rows per second of the paced part.
        schedulers: Names as `stormplace lab scheduler` takes them, in order.
        strategy: How the scheduler stormplace places the query; None means as its daemon does by itself.

    Raises:
        ExperimentError: A step failed, an answer was wrong or the machine lacks something; the lab is down
            by then.
    """
    rows = count_rows(data)
    if paced_rows > rows:
        raise ExperimentError(f"--paced-rows: {paced_rows} is more than the {rows} rows of {data}")
    home = f"site:{lab_sites(sites).redis}"
    query = taxi_query(data)
    feeding = at_rate(data, rows - paced_rows, rate, paced_rows)
    turns: dict[str, Member] = {}
    for name in schedulers:
        turn = turn_under(name, query, feeding, ends_at=home, strategy=strategy)
        turns[name] = Member(name, partial(run_turn, turn=turn))
    with (
        run_folder(out, "demo") as folder,
        display(_OTHER_STEPS + STEPS_PER_TURN * len(turns)) as progress,
    ):
        run_series(Series(sites, turns), folder / "lab", folder, progress)
        runs = {label: folder / label for label in turns}
        progress.step("verification: expected answers and percentiles on Spark")
        right = query.verify(folder / "expected", list(runs.values()), progress.detail)
        progress.step("report: table and picture")
        title = f"DEBS 2015 query 1, {paced_rows} rows at {rate:g} rows/s"
        finished = comparison.build(runs, sites, folder, title, provenance())
        progress.stop()
    console = Console()
    if not console.is_terminal:
        console = Console(width=TABLE_WIDTH)
    console.print(finished.table)
    sys.stdout.write(f"{finished.busy}\ntable:   {finished.markdown}\npicture: {finished.picture}\n")
    if not right:
        raise ExperimentError(f"an answer differs from the expected one: see {finished.markdown}", status=1)
