"""The experiment on adaptation: one lab, scenario after scenario; what is finished stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.adaptation.report.adaptation_report import build
from experiments.adaptation.scenario_run import ScenarioSetting, run_scenario
from experiments.folder_content import ADAPTATION
from experiments.resumable import Resumable, run_resumable
from experiments.running_lab import lab_sites
from experiments.series import Member, Series
from experiments.topologies.taxi_query import count_rows, taxi_query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.adaptation.adaptation_settings import AdaptationSettings
    from experiments.adaptation.report.kept import Scenario
    from experiments.progress import Display

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
        ExperimentError: Bad input, a lab that ended, or scenarios that failed; the same command goes on
            afterwards.
    """
    sites = lab_sites(settings.sites)
    rows = count_rows(settings.data)
    for scenario in scenarios:
        settings.fast_rows(scenario, rows)
    query = taxi_query(settings.data)
    setting = ScenarioSetting(settings, sites, rows, query)
    members: dict[str, Member] = {
        scenario: Member("stormplace", partial(run_scenario, scenario=scenario, setting=setting))
        for scenario in scenarios
    }
    experiment = Resumable(
        kind=ADAPTATION,
        document=settings.document(),
        series=Series(settings.sites, members),
        nouns="scenarios",
        order="to run",
        other_steps=_OTHER_STEPS,
        verify=query.verify,
        report=build,
    )
    run_resumable(experiment, out, display)
