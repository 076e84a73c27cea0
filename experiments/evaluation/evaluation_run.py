"""The flow of an evaluation: lab up, one run per strategy, lab down, verification, analysis, report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.busy import busy_sentence, read_busy
from experiments.errors import ExperimentError
from experiments.evaluation.page.contents import Evaluation
from experiments.evaluation.page.evaluation_page import html
from experiments.machine import provenance
from experiments.reports.rendered import write_page
from experiments.run_folder import run_folder
from experiments.running_lab import lab_sites
from experiments.series import STEPS_PER_TURN, Member, Series, run_series
from experiments.topologies.description import turn_under
from experiments.turn_run import run_turn
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.evaluation.compared import Variant
    from experiments.evaluation.evaluated import Evaluated
    from experiments.progress import Display

REPORT = "report.html"
_OTHER_STEPS = 5


@dataclass(frozen=True)
class Finished:
    """What an evaluation came to.

    Attributes:
        report: The report's path.
        analysis: Document as `replay.analysis.analyse` returns it.
        busy: How busy the processors were, in one sentence.
        right: Whether all answers are those expected.
    """

    report: Path
    analysis: dict[str, Any]
    busy: str
    right: bool


def run_evaluation(
    topology: Evaluated,
    variants: Sequence[Variant],
    site_file: Path,
    out: Path,
    display: Display,
    *,
    command: str,
) -> Finished:
    """Run a whole evaluation.

    Args:
        topology: What the strategies place.
        variants: Who places the executors, run by run.
        site_file: Site file of the lab.
        out: Folder that receives the folder of this evaluation.
        display: Shows the steps.
        command: The command line, for the report.

    Raises:
        ExperimentError: A step failed, the machine lacks something, or it was interrupted; the lab is down by
            then.
    """
    sites = lab_sites(site_file)
    try:
        topology.check()
    except DataError as error:
        raise ExperimentError(str(error)) from error
    with (
        run_folder(out, "evaluation") as folder,
        display(_OTHER_STEPS + STEPS_PER_TURN * len(variants)) as progress,
    ):
        progress.step("data")
        prepared = topology.prepare(folder, site_file, progress.detail)
        turns = {}
        for variant in variants:
            turn = turn_under(
                variant.scheduler,
                prepared.description,
                prepared.feeding,
                ends_at=f"site:{sites.redis}",
                strategy=variant.strategy,
                label=variant.name,
                conf=prepared.conf,
            )
            turns[variant.name] = Member(variant.scheduler, partial(run_turn, turn=turn))
        run_series(Series(site_file, turns), folder / "lab", folder, progress)
        runs = {variant: folder / variant.name for variant in variants}
        judged = prepared.judge(folder, runs, progress)
        progress.step("report")
        busy = busy_sentence({variant.name: read_busy(run) for variant, run in runs.items()})
        evaluation = Evaluation(
            title=f"{prepared.title}: {', '.join(variant.name for variant in variants)}",
            facts={
                **prepared.facts,
                "Machine": busy,
                "Cluster": f"{len(sites.hosts)} supervisors in network namespaces of one machine; the delays "
                f"between {len(sites.names)} sites are emulated ({site_file.name})",
            },
            runs=judged.runs,
            sites=sites,
            analysis=judged.analysis,
            origin=provenance().line(),
            command=command,
            wording=prepared.wording,
        )
        write_page(html(evaluation), folder / REPORT)
        progress.stop()
        return Finished(folder / REPORT, judged.analysis, busy, evaluation.right)
