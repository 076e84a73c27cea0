"""A lab around a benchmark, and commands on its hosts."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.cluster import LabClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.storm_config import SchedulerName

STORMPLACE = (sys.executable, "-m", "cli.main")
NIMBUS, REDIS = "--nimbus=nimbus:6627", "--redis=redis:6379"
PATIENCE_S = 1_800.0


@contextmanager
def running_lab(sites: Path, scheduler: SchedulerName, folder: Path | None = None) -> Iterator[LabClient]:
    """Bring a lab up; it is down when the block ends.

    Args:
        sites: Site file.
        scheduler: Scheduler that Nimbus uses.
        folder: Where its folder `lab` is made; by default a temporary place.
    """
    with tempfile.TemporaryDirectory() as scratch:
        lab = LabClient((folder or Path(scratch)) / "lab")
        lab.up(sites, scheduler, tied=True)
        try:
            yield lab
        finally:
            lab.down()


def begin(
    lab: LabClient, *command: str, host: str = "nimbus", stderr: int = subprocess.PIPE
) -> subprocess.Popen[Any]:
    """Start a program on a host of the lab; what it prints can be read."""
    return lab.exec(host, command, stdout=subprocess.PIPE, stderr=stderr, text=True)


def finish(process: subprocess.Popen[Any], *command: str) -> str:
    """Wait for a command that was begun and return what it printed; if it fails, the benchmark ends."""
    out, err = process.communicate(timeout=PATIENCE_S)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}: {err}")
    return str(out)


def run(lab: LabClient, *command: str, host: str = "nimbus") -> str:
    """Run a program on a host of the lab to its end; see `finish`."""
    return finish(begin(lab, *command, host=host), *command)
