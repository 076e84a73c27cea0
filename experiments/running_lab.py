"""A lab around a block of work: it does not outlive the block, and one that was left is ended first."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from lab.cluster import LabClient
from lab.errors import LabError
from lab.sites import read_site_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from experiments.progress import Progress
    from formats.site_file import SiteFile
    from lab.storm_config import SchedulerName


def lab_sites(path: Path) -> SiteFile:
    """Read the site file of a lab that is to run.

    Raises:
        ExperimentError: It cannot be read or holds errors.
    """
    try:
        return read_site_file(path)
    except LabError as error:
        raise ExperimentError(str(error)) from error


@contextmanager
def running_lab(
    folder: Path, sites: Path, scheduler: SchedulerName, progress: Progress
) -> Iterator[LabClient]:
    """A lab that is up inside the block and is gone after it, or after this process, whatever happens.

    Args:
        folder: The lab's folder, which must be the caller's alone: a lab that still runs there is ended.
        sites: Site file.
        scheduler: Scheduler that Nimbus uses at first.
        progress: Where the start is shown.

    Raises:
        LabError: The lab does not start; then nothing is left of it.
    """
    progress.step("lab: starting Storm at all sites")
    lab = LabClient(folder)
    _end(lab, folder)
    # not inside the `try`: a start that fails cleans up by itself, and one that is refused is not ours to end
    # tied: even one that is killed leaves no lab behind, whose folder would not be known anywhere else
    lab.up(sites, scheduler, lambda status: progress.detail(", ".join(status.pending)), tied=True)
    try:
        yield lab
    finally:
        progress.detail("taking the lab down")
        lab.down()


def end_left_lab(folder: Path) -> None:
    """End the lab that a killed command has left, if there is one.

    Args:
        folder: The lab's folder, which must be the caller's alone; it may be missing.

    Raises:
        LabError: It does not end.
    """
    _end(LabClient(folder), folder)


def _end(lab: LabClient, folder: Path) -> None:
    if lab.down():
        sys.stderr.write(f"ended the lab that a killed command had left in {folder}\n")


def is_gone(lab: LabClient) -> bool:
    """Whether a lab that was up does not run any more; one that does not answer still runs."""
    try:
        return lab.status().state == "absent"
    except LabError:
        return False
