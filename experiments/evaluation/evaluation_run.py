"""The flow of an evaluation: data, lab up, one run per strategy, lab down, verification, analysis, report."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from experiments.busy import write_busy
from experiments.errors import ExperimentError, InterruptedExperimentError
from experiments.evaluation.evaluation_data import check_data, prepare
from experiments.evaluation.evaluation_report import finish
from experiments.evaluation.evaluation_settings import OURS
from experiments.lab_steps import LabSteps, StepError
from experiments.run_folder import new_run_folder
from experiments.running_lab import running_lab
from lab.errors import LabError
from lab.sites import read_site_file
from replay.errors import DataError
from topologies.taxi.topology import component_ids

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.evaluation.evaluation_data import Rows
    from experiments.evaluation.evaluation_report import Finished
    from experiments.evaluation.evaluation_settings import EvaluationSettings, Query, Variant
    from experiments.progress import Display, Progress

TOPOLOGY = "taxi"
EXECUTORS_PER_WORKER = 2
_PINNED: dict[Query, tuple[str, ...]] = {
    "1": ("dataSource", "globalRank"),
    "2": ("dataSource", "globalAreaRank"),
    "both": ("dataSource", "globalRank", "globalAreaRank"),
}


def run_evaluation(settings: EvaluationSettings, display: Display) -> Finished:
    """Run a whole evaluation.

    Args:
        settings: What is run.
        display: Shows the steps.

    Raises:
        ExperimentError: A step failed, the machine lacks something, or it was interrupted; the lab is down by
            then.
    """
    try:
        read_site_file(settings.sites)
        check_data(settings)
    except (LabError, DataError) as error:
        raise ExperimentError(str(error)) from error
    folder = new_run_folder(settings.out, "evaluation")
    with display(5 + 4 * len(settings.variants)) as progress:
        try:
            progress.step("data")
            rows = _prepared(settings, folder, progress)
            runs: dict[Variant, Path] = {}
            first = settings.variants[0].scheduler
            with running_lab(folder / "lab", settings.sites, first, progress) as lab:
                steps = LabSteps(lab, progress, rows.path)
                for variant in settings.variants:
                    runs[variant] = _run_one(steps, variant, settings, folder, rows)
            return finish(settings, folder, rows, runs, progress)
        except (StepError, DataError, LabError, OSError) as failure:
            raise ExperimentError(f"{failure} (details in {folder})", status=1) from failure
        except KeyboardInterrupt:
            raise InterruptedExperimentError(f"interrupted; what was done so far is in {folder}") from None


def _prepared(settings: EvaluationSettings, folder: Path, progress: Progress) -> Rows:
    """Return the rows to replay; if they are refused, no empty folder stays."""
    try:
        return prepare(settings, folder, progress.detail)
    except ExperimentError:
        with suppress(OSError):  # rows were made, which may be looked at
            folder.rmdir()
        raise


def _run_one(
    steps: LabSteps, variant: Variant, settings: EvaluationSettings, folder: Path, rows: Rows
) -> Path:
    """Submit, feed, collect and kill under one strategy.

    Returns:
        The run's folder.
    """
    run_dir = folder / variant.name
    run_dir.mkdir()
    ours = variant.scheduler == OURS
    site = steps.services_site(settings.sites)
    pins = dict.fromkeys(_PINNED[settings.query], f"site:{site}") if ours else {}
    steps.use_scheduler(variant.scheduler)
    workers = -(-len(_components(settings.query)) // EXECUTORS_PER_WORKER)
    steps.submit(
        variant.name, TOPOLOGY, workers, pins, run_dir, strategy=variant.strategy, query=settings.query
    )
    feeding = settings.feeding
    fast = feeding.fast_rows(rows.count)
    if feeding.speed is not None:
        write_busy(run_dir, steps.replay(variant.name, fast, feeding.speed, run_dir))
    elif feeding.rate is not None:
        write_busy(run_dir, steps.feed(variant.name, fast, feeding.rate, feeding.paced_rows, run_dir))
    steps.finish(variant.name, TOPOLOGY, run_dir)
    return run_dir


def _components(query: Query) -> tuple[str, ...]:
    return component_ids(("1", "2") if query == "both" else (query,))
