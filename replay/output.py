"""Whole results or none: outputs appear under their name only when they are complete."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import DataError, MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MARK = "summary.json"


def require_replaceable(target: Path) -> None:
    """Refuse a folder that `replaced_folder` could not write, before the work that would fill it.

    Raises:
        DataError: The target is a file, or a folder with something else in it.
        MachineError: It cannot be written.
    """
    if target.exists() and not target.is_dir():
        raise DataError(f"{target}: not a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / MARK).is_file():
        raise DataError(f"{target}: the folder holds other files; choose a new or empty one")
    _require_writable(target)


def require_writable_file(path: Path) -> None:
    """Refuse a file that `write_json` could not write, before the work whose result it takes.

    Raises:
        DataError: There is a folder of this name.
        MachineError: It cannot be written.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a folder")
    _require_writable(path)


def _require_writable(path: Path) -> None:
    nearest = next(each for each in path.absolute().parents if each.exists())
    if not nearest.is_dir():
        raise MachineError(f"{path}: cannot be written: {nearest} is no folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise MachineError(f"{path}: cannot be written: no access to {nearest}")


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Give a scratch folder that takes the place of `target` when the block ends well.

    The scratch folder lies beside the target so that the last step is a rename. On an error it is removed and
    the target stays as it was.

    Args:
        target: Folder to write; if it exists it must be an earlier output (it holds `summary.json`) or empty.

    Yields:
        The scratch folder.

    Raises:
        DataError: The target is a file, or a folder with something else in it, or cannot be written.
    """
    require_replaceable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # whole, as tasks that write into it have working directories of their own
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent.resolve()))
    except OSError as error:
        raise MachineError(f"{target}: cannot be written: {error.strerror}") from error
    old = scratch.with_name(f"{scratch.name}-old")
    try:
        yield scratch
        scratch.chmod(0o755)
        if target.exists():
            target.rename(old)
        scratch.rename(target)
    finally:
        if old.exists() and not target.exists():  # Ctrl-C came between the two steps
            old.rename(target)
        for rest in (scratch, old):
            shutil.rmtree(rest, ignore_errors=True)


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON file in one step: readers see the old content or the new, never a part.

    Raises:
        MachineError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream, indent=2, ensure_ascii=False)
            stream.write("\n")
        scratch = Path(name)
        scratch.chmod(0o644)
        scratch.replace(path)
    except OSError as error:
        raise MachineError(f"{path}: cannot be written: {error.strerror}") from error


def read_json(path: Path) -> dict[str, object]:
    """Read a JSON file that holds an object.

    Raises:
        DataError: The file is missing, unreadable or holds something else.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(document, dict):
        raise DataError(f"{path}: expected a JSON object")
    return document
