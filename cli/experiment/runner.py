"""The experiment's flow: one lab, turn after turn; what is finished stays and is not measured again."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bridge.record import RecordError
from cli.demo_steps import LabSteps, StepError, count_rows
from cli.errors import UserError
from cli.experiment.settings import open_folder
from cli.experiment.turn import TurnSetting, run_turn
from cli.progress import StepProgress
from lab.cluster import LabClient
from lab.errors import LabError
from lab.sites import read_site_file
from replay.errors import DataError
from replay.experiment_folder import TURNS, finished, finished_turns
from replay.pipeline import VERDICT, evaluate_runs
from replay.response_time.kept import EXPECTED
from replay.response_time.report import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cli.experiment.settings import ExperimentSettings
    from cli.experiment.variants import Turn

_STEPS_PER_TURN = 4
_OTHER_STEPS = 4


def run_experiment(settings: ExperimentSettings, turns: Sequence[Turn], out: Path) -> None:
    """Run the turns that are not finished yet, verify all answers and write the report.

    Args:
        settings: How every turn runs.
        turns: All turns, in their order.
        out: The experiment's folder.

    Raises:
        UserError: Bad input, a lab that ended, or turns that failed; the same command goes on afterwards.
    """
    try:
        sites = read_site_file(settings.sites)
    except LabError as error:
        raise UserError(str(error)) from error
    fast_rows = settings.fast_rows(count_rows(settings.data))
    open_folder(out, settings)
    out = out.resolve()
    due = [turn for turn in turns if not finished(out / TURNS / turn.label)]
    sys.stderr.write(
        f"{len(turns)} turns, {len(turns) - len(due)} finished before; order of the others by seed "
        f"{settings.seed}: {', '.join(turn.label for turn in due) or 'none'}\n"
    )
    failures: dict[str, str] = {}
    try:
        with StepProgress(total=_OTHER_STEPS + _STEPS_PER_TURN * len(due)) as progress:
            if due:
                home = next(site.name for site in sites.site if site.services)
                with _lab(settings, due[0], progress, out) as lab:
                    setting = TurnSetting(settings, fast_rows, f"{home}-1", lab.folder.records)
                    failures = _run(LabSteps(lab, progress, settings.data), due, out, setting)
            if len(failures) < len(turns):
                _verify(settings, progress, out)
                progress.step("report: table and pictures")
                report = build(out)
                progress.stop()
                sys.stdout.write(f"report: {report}\n")
    except (StepError, DataError, LabError, RecordError, OSError) as failure:
        raise UserError(f"{failure} (the same command goes on from here)", status=1) from failure
    if failures:
        told = "; ".join(f"{label}: {reason}" for label, reason in failures.items())
        raise UserError(f"turns failed, the same command tries them again: {told}", status=1)


@contextmanager
def _lab(settings: ExperimentSettings, first: Turn, progress: StepProgress, out: Path) -> Iterator[LabClient]:
    """A lab that is up and has settled inside the block and is gone after it, whatever happens."""
    lab = LabClient(out / "lab")
    progress.step("lab: starting Storm at all sites")
    try:
        lab.up(
            settings.sites, first.variant.scheduler, lambda status: progress.detail(", ".join(status.pending))
        )
        progress.step(f"lab: {settings.settle_s:g} s for coordinates to converge")
        time.sleep(settings.settle_s)
        yield lab
    finally:
        progress.detail("taking the lab down")
        lab.down()


def _run(steps: LabSteps, due: Sequence[Turn], out: Path, setting: TurnSetting) -> dict[str, str]:
    """Run turns; one that fails does not keep the next from running as long as the lab is up.

    Returns:
        Reason by label of the turns that failed.
    """
    failures: dict[str, str] = {}
    for turn in due:
        try:
            run_turn(steps, turn, out / TURNS / turn.label, setting)
        except StepError as error:
            failures[turn.label] = str(error)
            sys.stderr.write(f"stormplace: {turn.label} failed: {error}\n")
            if steps.lab.status().state == "absent":
                raise
    return failures


def _verify(settings: ExperimentSettings, progress: StepProgress, out: Path) -> None:
    """Compare the answers of all finished turns with the expected ones, as far as that is not done yet."""
    progress.step("verification: expected answers on Spark")
    unverified = [turn for turn in finished_turns(out) if not (turn / VERDICT).is_file()]
    if unverified:
        expected = out / EXPECTED
        source = None if (expected / "summary.json").is_file() else settings.data
        evaluate_runs(expected, unverified, source=source, say=progress.detail)
