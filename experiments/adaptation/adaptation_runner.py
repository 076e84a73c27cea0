"""The experiment's flow: one lab, scenario after scenario; what is finished stays and is not run again."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from experiments.adaptation.report.report import build
from experiments.adaptation.scenario_run import ScenarioSetting, run_scenario
from experiments.errors import ExperimentError
from experiments.flow import resumable, run_turns, tell_failures, verify_and_report
from experiments.folder import experiment_folder
from experiments.folder_content import ADAPTATION, TURNS, finished
from experiments.lab_steps import LabSteps, count_rows
from experiments.running_lab import end_left_lab, running_lab
from lab.errors import LabError
from lab.sites import read_site_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.adaptation.adaptation_settings import AdaptationSettings
    from experiments.adaptation.report.kept import Scenario
    from experiments.progress import Display
    from formats.site_file import SiteFile

_STEPS_PER_SCENARIO = 4
_OTHER_STEPS = 3


def run_adaptation(
    settings: AdaptationSettings, scenarios: Sequence[Scenario], out: Path, display: Display
) -> None:
    """Run the scenarios that are not finished yet, verify all answers and write the report.

    Args:
        settings: How every scenario runs.
        scenarios: Those that are wanted, in their order.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: Bad input, a lab that ended, or scenarios that failed; the same command goes on afterwards.
    """
    try:
        sites = read_site_file(settings.sites)
    except LabError as error:
        raise ExperimentError(str(error)) from error
    rows = count_rows(settings.data)
    for scenario in scenarios:
        settings.fast_rows(scenario, rows)
    failures: dict[str, str] = {}
    kept = experiment_folder(out, ADAPTATION, settings.document(), settings.sites)
    with kept as folder:
        _go_on(settings, sites, scenarios, rows, folder, failures, display)
    tell_failures(failures)


def _go_on(
    settings: AdaptationSettings,
    sites: SiteFile,
    scenarios: Sequence[Scenario],
    rows: int,
    out: Path,
    failures: dict[str, str],
    display: Display,
) -> None:
    """Run the scenarios that are due and report."""
    due = [scenario for scenario in scenarios if not finished(out / TURNS / scenario)]
    sys.stderr.write(
        f"{len(scenarios)} scenarios, {len(scenarios) - len(due)} finished before; "
        f"to run: {', '.join(due) or 'none'}\n"
    )
    with resumable(failures), display(_OTHER_STEPS + _STEPS_PER_SCENARIO * len(due)) as progress:
        if not due:
            end_left_lab(out / "lab")  # else the new one takes its place
        if due:
            with running_lab(out / "lab", settings.sites, "stormplace", progress) as lab:
                steps = LabSteps(lab, progress, settings.data)
                setting = ScenarioSetting(settings, sites, rows, lab.folder.records)
                run_turns(
                    lab,
                    out,
                    {scenario: partial(run_scenario, steps, scenario, setting) for scenario in due},
                    failures,
                )
        if len(failures) < len(scenarios):
            verify_and_report(out, settings.data, build, progress)
