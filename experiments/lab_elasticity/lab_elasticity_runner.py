"""The experiment on elasticity: one lab, turn after turn; what is finished stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.folder_content import ELASTICITY
from experiments.lab_elasticity.lab_elasticity_turn import run_elasticity_turn
from experiments.lab_elasticity.report.lab_elasticity_report import build
from experiments.lab_elasticity.report.turns import verify
from experiments.resumable import Resumable, run_resumable
from experiments.series import Member, Series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
    from experiments.lab_elasticity.variants import VariantTurn
    from experiments.progress import Display

_OTHER_STEPS = 4


def run_lab_elasticity(
    settings: LabElasticitySettings, turns: Sequence[VariantTurn], out: Path, display: Display
) -> None:
    """Run the turns that are not finished yet and write the report.

    Args:
        settings: How every turn runs.
        turns: All turns, in their order.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: Bad input, a lab that ended, or turns that failed; the same command goes on
            afterwards.
    """
    settings.site_file  # noqa: B018 - refuses files that do not fit before anything starts
    settings.due_s()  # likewise
    members = {
        turn.label: Member("stormplace", partial(run_elasticity_turn, turn=turn, settings=settings))
        for turn in turns
    }
    experiment = Resumable(
        kind=ELASTICITY,
        document=settings.document(),
        series=Series(settings.sites, members, settings.settle_s),
        nouns="turns",
        order="to run",
        other_steps=_OTHER_STEPS,
        verify=verify,
        report=build,
    )
    run_resumable(experiment, out, display)
