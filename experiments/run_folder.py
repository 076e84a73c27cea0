"""A folder of its own for each run of a command that is not gone on with."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from experiments.lab_steps import StepError
from lab.errors import LabError
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_INTERRUPTED = 130
"""As a shell has it for a program that SIGINT ended."""


@contextmanager
def run_folder(out: Path, kind: str) -> Iterator[Path]:
    """Make the folder of this run; say what ends the block, and where what it leaves is.

    Args:
        out: The folder of all runs.
        kind: Kind of the run: the folder's name is this and the local time.

    Yields:
        The folder, absolute; one that stays empty is removed.

    Raises:
        ExperimentError: The folder cannot be made, or another run began in the same second; as inside the
            block; what its steps, files and lab may fail with, with status 1; or Ctrl-C, with status 130.
    """
    folder = out / f"{kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ExperimentError(f"--out: cannot create {folder}: {error.strerror}") from error
    folder = folder.resolve()
    try:
        yield folder
    except ExperimentError:
        _is_left(folder)
        raise
    except (StepError, DataError, LabError, OSError) as failure:
        where = f" (details in {folder})" if _is_left(folder) else ""
        raise ExperimentError(f"{failure}{where}", status=1) from failure
    except KeyboardInterrupt:
        where = f"; what was done so far is in {folder}" if _is_left(folder) else ""
        raise ExperimentError(f"interrupted{where}", status=_INTERRUPTED) from None


def _is_left(folder: Path) -> bool:
    """Whether a folder holds anything; one that does not is removed."""
    try:
        folder.rmdir()
    except OSError:
        return True
    return False
