"""The experiment over three tiers: one lab, turn after turn; what is finished stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.folder_content import LAB_TIERS
from experiments.lab_tiers.lab_tiers_turn import TurnSetting, run_tiers_turn
from experiments.lab_tiers.report.lab_tiers_report import build
from experiments.resumable import Resumable, run_resumable
from experiments.series import Member, Series
from experiments.topologies.taxi_query import count_rows, taxi_query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.lab_tiers.lab_tiers_settings import LabTiersSettings
    from experiments.lab_tiers.variants import VariantTurn
    from experiments.progress import Display

_OTHER_STEPS = 4


def run_lab_tiers(
    settings: LabTiersSettings, turns: Sequence[VariantTurn], out: Path, display: Display
) -> None:
    """Run the turns that are not finished yet, verify all answers and write the report.

    Args:
        settings: How every turn runs.
        turns: All turns, in their order.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: Bad input, a lab that ended, or turns that failed; the same command goes on
            afterwards.
    """
    settings.site_file  # noqa: B018 - refuses a file that does not fit before anything starts
    rows = count_rows(settings.data)
    for turn in turns:
        settings.measured_rows(turn.variant, rows)
    query = taxi_query(settings.data)
    setting = TurnSetting(settings, query, rows)
    members = {
        turn.label: Member(turn.variant.scheduler, partial(run_tiers_turn, turn=turn, setting=setting))
        for turn in turns
    }
    experiment = Resumable(
        kind=LAB_TIERS,
        document=settings.document(),
        series=Series(settings.sites, members, settings.settle_s),
        nouns="turns",
        order="to run",
        other_steps=_OTHER_STEPS,
        verify=query.verify,
        report=build,
    )
    run_resumable(experiment, out, display)
