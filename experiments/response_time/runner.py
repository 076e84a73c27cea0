"""The experiment's flow: one lab, turn after turn; what is finished stays and is not measured again."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from experiments.flow import resumable, run_turns, settle, tell_failures, verify_and_report
from experiments.folder import experiment_folder
from experiments.folder_content import RESPONSE_TIME, TURNS, finished
from experiments.lab_steps import LabSteps, count_rows
from experiments.response_time.report.report import build
from experiments.response_time.turn import TurnSetting, run_turn
from experiments.running_lab import end_left_lab, running_lab
from lab.errors import LabError
from lab.sites import read_site_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.progress import Display
    from experiments.response_time.settings import ExperimentSettings
    from experiments.response_time.variants import Turn

_STEPS_PER_TURN = 4
_OTHER_STEPS = 4


def run_experiment(settings: ExperimentSettings, turns: Sequence[Turn], out: Path, display: Display) -> None:
    """Run the turns that are not finished yet, verify all answers and write the report.

    Args:
        settings: How every turn runs.
        turns: All turns, in their order.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: Bad input, a lab that ended, or turns that failed; the same command goes on afterwards.
    """
    try:
        sites = read_site_file(settings.sites)
    except LabError as error:
        raise ExperimentError(str(error)) from error
    fast_rows = settings.fast_rows(count_rows(settings.data))
    failures: dict[str, str] = {}
    kept = experiment_folder(out, RESPONSE_TIME, settings.document(), settings.sites)
    with kept as folder:
        home = next(site.name for site in sites.site if site.services)
        _go_on(settings, turns, fast_rows, f"{home}-1", folder, failures, display)
    tell_failures(failures)


def _go_on(
    settings: ExperimentSettings,
    turns: Sequence[Turn],
    fast_rows: int,
    home: str,
    out: Path,
    failures: dict[str, str],
    display: Display,
) -> None:
    """Run the turns that are due, verify and report."""
    due = [turn for turn in turns if not finished(out / TURNS / turn.label)]
    sys.stderr.write(
        f"{len(turns)} turns, {len(turns) - len(due)} finished before; order of the others by seed "
        f"{settings.seed}: {', '.join(turn.label for turn in due) or 'none'}\n"
    )
    with resumable(failures), display(_OTHER_STEPS + _STEPS_PER_TURN * len(due)) as progress:
        if not due:
            end_left_lab(out / "lab")  # else the new one takes its place
        if due:
            with running_lab(out / "lab", settings.sites, due[0].variant.scheduler, progress) as lab:
                settle(settings.settle_s, progress)
                setting = TurnSetting(settings, fast_rows, home, lab.folder.records)
                steps = LabSteps(lab, progress, settings.data)
                runs = {turn.label: partial(run_turn, steps, turn, setting) for turn in due}
                run_turns(lab, out, runs, failures)
        if len(failures) < len(turns):
            verify_and_report(out, settings.data, build, progress)
