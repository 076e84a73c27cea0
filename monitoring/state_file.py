"""A file in which a program keeps its memory: never written over a file of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from pathlib import Path

    from formats.log import Log

_BEGIN_BYTES = 64


def foreign(path: Path, begin: re.Pattern[bytes], what: str) -> str | None:
    """Say why a file cannot be ours: it is something else, or has no folder. None: it is, or there is none.

    Its first bytes decide, so that a damaged file and one of another version count as ours; an empty file has
    nothing to lose.

    Args:
        path: The file.
        begin: Matches the first bytes of what is ours.
        what: What ours is called, such as ``state of an agent``.
    """
    if not path.parent.is_dir():
        return "is not in an existing folder"
    try:
        if not path.exists():
            return None
        if not path.is_file():
            return "is a folder" if path.is_dir() else "is no file"
        with path.open("rb") as file:
            found = file.read(_BEGIN_BYTES)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if not found or begin.match(found) else f"is no {what} and is not overwritten"


class WriteLog:
    """Logs each change of trouble with writing a file once.

    Args:
        path: The file.
        log: Takes one line per change of state.
    """

    def __init__(self, path: Path | None, log: Log) -> None:
        self._path = path
        self._log = log
        self._trouble = ""

    def note(self, trouble: str) -> None:
        """Take what came of a write: why it failed, empty if it did not."""
        if trouble == self._trouble:
            return
        self._trouble = trouble
        if trouble:
            self._log.warning("state-unwritable", file=str(self._path), reason=trouble)
        else:
            self._log.info("state-written-again", file=str(self._path))
