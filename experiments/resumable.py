"""Experiments that go on after an interruption: what is finished stays and is not run again."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.record.record import RecordError
from experiments.errors import ExperimentError
from experiments.folder import experiment_folder
from experiments.folder_content import EXPECTED, TURNS, finished, finished_turns
from experiments.lab_steps import StepError
from experiments.running_lab import end_left_lab
from experiments.series import STEPS_PER_TURN, run_series
from lab.errors import LabError
from replay.errors import DataError, MachineError
from replay.pipeline import VERDICT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from experiments.progress import Display, Progress
    from experiments.series import Series
    from experiments.topologies.description import Verify

GOES_ON = "(the same command goes on from here)"


@dataclass(frozen=True)
class Resumable:
    """An experiment whose finished turns stay: the same command goes on after anything that ends it.

    Attributes:
        kind: Which experiment.
        document: What must stay the same within its folder, as JSON values.
        series: All its turns.
        nouns: What it calls its turns.
        order: What it says of those that are due, before their labels.
        other_steps: Steps of the display beside those of turns.
        verify: Compares answers with those expected.
        report: Writes the report and returns its path.
    """

    kind: str
    document: Mapping[str, object]
    series: Series
    nouns: str
    order: str
    other_steps: int
    verify: Verify
    report: Callable[[Path], Path]


def run_resumable(experiment: Resumable, out: Path, display: Display) -> None:
    """Run the turns that are not finished yet, verify all answers and write the report.

    Args:
        experiment: What is run.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: The folder is refused, the lab ended, or turns failed.
        KeyboardInterrupt: As it came; what was done stays.
    """
    series = experiment.series
    failures: dict[str, str] = {}
    with experiment_folder(out, experiment.kind, experiment.document, series.sites) as folder:
        turns = folder / TURNS
        due = {label: turn for label, turn in series.turns.items() if not finished(turns / label)}
        sys.stderr.write(
            f"{len(series.turns)} {experiment.nouns}, {len(series.turns) - len(due)} finished before; "
            f"{experiment.order}: {', '.join(due) or 'none'}\n"
        )
        steps = experiment.other_steps + STEPS_PER_TURN * len(due)
        with _resumable(failures), display(steps) as progress:
            if due:
                run_series(replace(series, turns=due), folder / "lab", turns, progress, failures)
            else:
                end_left_lab(folder / "lab")  # else the new one takes its place
            if len(failures) < len(series.turns):
                verify_and_report(folder, experiment.verify, experiment.report, progress)
    if failures:
        raise ExperimentError(
            f"turns failed, the same command tries them again: {_joined(failures)}", status=1
        )


@contextmanager
def _resumable(failures: Mapping[str, str]) -> Iterator[None]:
    """Say what ends the block, which turns had failed before, and whether the same command goes on.

    Args:
        failures: Reason by label of turns that failed; filled inside the block.

    Raises:
        ExperimentError: Anything that the experiment's steps, files and lab may fail with; exit status 1.
        KeyboardInterrupt: As inside the block.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"stormplace: interrupted{_before(failures)} {GOES_ON}\n")
        raise
    except (StepError, LabError, MachineError, OSError) as failure:
        raise ExperimentError(f"{failure}{_before(failures)} {GOES_ON}", status=1) from failure
    except (DataError, RecordError) as failure:
        # a kept file that is malformed stays so
        raise ExperimentError(f"{failure}{_before(failures)}", status=1) from failure


def _before(failures: Mapping[str, str]) -> str:
    return f"; failed before: {_joined(failures)}" if failures else ""


def _joined(failures: Mapping[str, str]) -> str:
    return "; ".join(f"{label}: {reason}" for label, reason in failures.items())


def verify_and_report(out: Path, verify: Verify, report: Callable[[Path], Path], progress: Progress) -> None:
    """Compare the answers of finished turns with the expected ones, where not done yet, and write the report.

    From the expected answers a report also knows which rows should have a result.

    Args:
        out: The experiment's folder.
        verify: Compares answers with those expected.
        report: Writes the report and returns its path.
        progress: Takes two steps.
    """
    progress.step("verification: expected answers on Spark")
    unverified = [turn for turn in finished_turns(out) if not (turn / VERDICT).is_file()]
    if unverified:
        verify(out / EXPECTED, unverified, progress.detail)
    progress.step("report: table and pictures")
    path = report(out)
    progress.stop()
    sys.stdout.write(f"report: {path}\n")
