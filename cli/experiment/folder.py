"""The folder of an experiment: made once, and taken up again only with the same settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

from cli.errors import UserError
from replay.errors import DataError
from replay.experiment_folder import KIND, SETTINGS, SITES, experiment_kind
from replay.output import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def open_folder(folder: Path, kind: str, wanted: Mapping[str, object], sites: Path) -> None:
    """Make an experiment's folder, or see that it belongs to one with the same settings.

    Args:
        folder: The folder.
        kind: Which experiment.
        wanted: What must stay the same within a folder, as JSON values.
        sites: Site file; a copy stays in the folder.

    Raises:
        UserError: The folder is another experiment's or somebody else's, or cannot be written.
    """
    kept = folder / SETTINGS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if kept.exists():
            _compare(folder, kind, wanted)
            return
        if any(folder.iterdir()):
            raise UserError(f"--out: {folder} holds other files; choose a new or empty folder")
        shutil.copyfile(sites, folder / SITES)
        kept.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out: {folder} cannot be used: {error.strerror}") from error
    except DataError as error:
        raise UserError(f"--out: {error}") from error


def _compare(folder: Path, kind: str, wanted: Mapping[str, object]) -> None:
    present_kind = experiment_kind(folder)
    if present_kind != kind:
        raise UserError(f"--out: {folder} holds the experiment {present_kind}; choose another folder")
    present = read_json(folder / SETTINGS)
    differing = [key for key, value in wanted.items() if key != KIND and present.get(key) != value]
    if differing:
        raise UserError(
            f"--out: {folder} holds an experiment with another {', '.join(differing)} ({SETTINGS}); "
            "choose another folder"
        )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
