"""The experiment on re-placement: one lab, turn after turn; what is finished stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.folder_content import REPLACEMENT
from experiments.replacement.cluster.chain_turn import verify
from experiments.replacement.cluster.cluster_turn import run_cluster_turn
from experiments.replacement.cluster.report.replacement_report import build
from experiments.resumable import Resumable, run_resumable
from experiments.series import Member, Series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.progress import Display
    from experiments.replacement.cluster.cluster_settings import ReplacementSettings
    from experiments.replacement.cluster.variants import VariantTurn

_OTHER_STEPS = 4


def run_replacement(
    settings: ReplacementSettings, turns: Sequence[VariantTurn], out: Path, display: Display
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
    settings.late_host  # noqa: B018 - refuses files that do not fit before anything starts
    members = {
        turn.label: Member(turn.variant.scheduler, partial(run_cluster_turn, turn=turn, settings=settings))
        for turn in turns
    }
    experiment = Resumable(
        kind=REPLACEMENT,
        document=settings.document(),
        series=Series(settings.sites, members, settings.settle_s),
        nouns="turns",
        order="to run",
        other_steps=_OTHER_STEPS,
        verify=verify,
        report=build,
    )
    run_resumable(experiment, out, display)
