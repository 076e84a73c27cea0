"""The demo's flow: lab up, one run per scheduler, lab down, verification, report."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from experiments.busy import write_busy
from experiments.errors import ExperimentError
from experiments.lab_steps import LabSteps, StepError, count_rows
from experiments.machine import provenance
from experiments.run_folder import new_run_folder
from experiments.running_lab import running_lab
from lab.errors import LabError
from lab.sites import read_site_file
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.progress import Display, Progress
    from lab.storm_config import SchedulerName

TOPOLOGY = "taxi"
WORKERS = 4
"""Eight executors, two to a host: four workers is the fewest that fit, so the best for every scheduler."""

TABLE_WIDTH = 150
"""Columns of the table where no terminal says how wide it is."""

PINS = ("dataSource", "globalRank")


@dataclass(frozen=True)
class DemoSettings:
    """What the demo runs.

    Attributes:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area.
        out: Folder that receives one run folder per demo.
        paced_rows: Rows at the end of the file that are sent at `rate`; response times are taken from these.
        rate: Rows per second of the paced part.
        schedulers: Names as `stormplace lab scheduler` takes them, in order.
        strategy: How the scheduler stormplace places the query; None means as its daemon does by itself.
    """

    data: Path
    sites: Path
    out: Path
    paced_rows: int
    rate: float
    schedulers: tuple[SchedulerName, ...]
    strategy: str | None = None


def run_demo(settings: DemoSettings, display: Display) -> None:
    """Run the whole demo and print its table.

    Args:
        settings: What is run.
        display: Shows the steps.

    Raises:
        ExperimentError: A step failed, an answer was wrong or the machine lacks something; the lab is down by then.
    """
    rows = count_rows(settings.data)
    if settings.paced_rows > rows:
        raise ExperimentError(
            f"--paced-rows: {settings.paced_rows} is more than the {rows} rows of {settings.data}"
        )
    try:
        read_site_file(settings.sites)
    except LabError as error:
        raise ExperimentError(str(error)) from error
    folder = new_run_folder(settings.out, "demo")
    runs: dict[str, Path] = {}
    with display(3 + 4 * len(settings.schedulers)) as progress:
        try:
            with running_lab(folder / "lab", settings.sites, settings.schedulers[0], progress) as lab:
                steps = LabSteps(lab, progress, settings.data)
                for scheduler in settings.schedulers:
                    runs[scheduler] = _run_one(steps, scheduler, settings, folder, rows - settings.paced_rows)
            correct = _verify_and_report(settings, progress, folder, runs)
        except (StepError, DataError, LabError, OSError) as failure:
            raise ExperimentError(f"{failure}{_where(folder)}", status=1) from failure
    if not correct:
        raise ExperimentError(
            f"an answer differs from the expected one: see {folder / 'report.md'}", status=1
        )


def _where(folder: Path) -> str:
    """Point to what a failed demo left behind; a folder in which nothing was written is removed."""
    try:
        folder.rmdir()
    except OSError:
        return f" (details in {folder})"
    return ""


def _run_one(
    steps: LabSteps, scheduler: SchedulerName, settings: DemoSettings, folder: Path, fast_rows: int
) -> Path:
    """One scheduler: submit, feed, collect, kill.

    Returns:
        The run's folder with results.csv, tops.csv, states.jsonl, summary.json and placement.json.
    """
    run_dir = folder / scheduler
    run_dir.mkdir()
    services = steps.services_site(settings.sites)
    ours = scheduler == "stormplace"
    pins = dict.fromkeys(PINS, f"site:{services}") if ours else {}
    steps.use_scheduler(scheduler)
    steps.submit(scheduler, TOPOLOGY, WORKERS, pins, run_dir, strategy=settings.strategy if ours else None)
    write_busy(run_dir, steps.feed(scheduler, fast_rows, settings.rate, settings.paced_rows, run_dir))
    steps.finish(scheduler, TOPOLOGY, run_dir)
    return run_dir


def _verify_and_report(
    settings: DemoSettings, progress: Progress, folder: Path, runs: dict[str, Path]
) -> bool:
    """Check every answer with Spark, write the report and print its table.

    Returns:
        Whether the answers of all runs equal the expected ones.
    """
    from experiments.reports import comparison as report
    from replay.pipeline import evaluate_runs  # noqa: PLC0415 (likewise)

    progress.step("verification: expected answers and percentiles on Spark")
    evaluations = evaluate_runs(
        folder / "expected", list(runs.values()), source=settings.data, say=progress.detail
    )
    progress.step("report: table and picture")
    here = provenance()
    title = f"DEBS 2015 query 1, {settings.paced_rows} rows at {settings.rate:g} rows/s"
    meta = report.ReportMeta(title, here.machine, here.date, here.commit)
    finished = report.build(runs, settings.sites, folder, meta)
    progress.stop()
    console = Console()
    if not console.is_terminal:
        console = Console(width=TABLE_WIDTH)
    console.print(finished.table)
    sys.stdout.write(f"{finished.busy}\ntable:   {finished.markdown}\npicture: {finished.picture}\n")
    return all(evaluation.verdict.equal for evaluation in evaluations)
