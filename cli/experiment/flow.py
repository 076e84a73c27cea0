"""What all experiments share: one lab around turns, turns that fail, and going on after an interruption."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bridge.record import RecordError
from cli.demo_steps import StepError
from cli.errors import UserError
from lab.cluster import LabClient
from lab.errors import LabError
from replay.errors import DataError
from replay.experiment_folder import TURNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from cli.progress import StepProgress
    from lab.storm_config import SchedulerName


@contextmanager
def running_lab(
    folder: Path, sites: Path, scheduler: SchedulerName, progress: StepProgress
) -> Iterator[LabClient]:
    """A lab that is up inside the block and is gone after it, whatever happens."""
    lab = LabClient(folder)
    progress.step("lab: starting Storm at all sites")
    try:
        lab.up(sites, scheduler, lambda status: progress.detail(", ".join(status.pending)))
        yield lab
    finally:
        progress.detail("taking the lab down")
        lab.down()


def settle(settle_s: float, progress: StepProgress) -> None:
    """Wait while the network is at rest."""
    progress.step(f"lab: {settle_s:g} s for coordinates to converge")
    time.sleep(settle_s)


def run_turns(lab: LabClient, out: Path, turns: Mapping[str, Callable[[Path], None]]) -> dict[str, str]:
    """Run turns; one that fails does not keep the next from running as long as the lab is up.

    Args:
        lab: The lab.
        out: The experiment's folder.
        turns: By label, what runs a turn in its folder.

    Returns:
        Reason by label of the turns that failed.

    Raises:
        StepError: A turn failed, and the lab is gone.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    failures: dict[str, str] = {}
    for label, run in turns.items():
        try:
            run(out / TURNS / label)
        except StepError as error:
            failures[label] = str(error)
            sys.stderr.write(f"stormplace: {label} failed: {error}\n")
            if lab.status().state == "absent":
                raise
    return failures


@contextmanager
def resumable() -> Iterator[None]:
    """Tell of what ends the block, and that the same command goes on.

    Raises:
        UserError: Anything that the experiment's steps, files and lab may fail with; exit status 1.
    """
    try:
        yield
    except (StepError, DataError, LabError, RecordError, OSError) as failure:
        raise UserError(f"{failure} (the same command goes on from here)", status=1) from failure


def tell_failures(failures: Mapping[str, str]) -> None:
    """End with the turns that failed, if there are any.

    Raises:
        UserError: There are some; exit status 1.
    """
    if failures:
        told = "; ".join(f"{label}: {reason}" for label, reason in failures.items())
        raise UserError(f"turns failed, the same command tries them again: {told}", status=1)
