"""A folder of its own for each run of a long command."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from pathlib import Path


def new_run_folder(out: Path, kind: str) -> Path:
    """Make the folder of this run, below `--out`; its name is the kind of run and the local time.

    Raises:
        ExperimentError: It cannot be made, or another run began in the same second.
    """
    folder = out / f"{kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ExperimentError(f"--out: cannot create {folder}: {error.strerror}") from error
    return folder.resolve()
