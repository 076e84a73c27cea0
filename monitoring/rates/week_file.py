"""The file in which the rates collector keeps what is usual: read once, written when an hour has ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.state_file import write_state
from monitoring import state_file
from monitoring.rates.week_memory import WeekMemory

if TYPE_CHECKING:
    from pathlib import Path

    from formats.log import Log

_BEGIN = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"weeks"')


def foreign(path: Path) -> str | None:
    """Say why a file must not be overwritten: it is none of a collector's; None if it may be."""
    return state_file.foreign(path, _BEGIN, "state of a rates collector")


class WeekFile:
    """Keeps a memory in a file.

    Args:
        path: The file.
        log: Takes one line per change of state.

    Attributes:
        memory: What was kept; nothing, if there was no file or it cannot be read.
    """

    def __init__(self, path: Path, log: Log) -> None:
        self._path = path
        self._writes = state_file.WriteLog(path, log)
        self._changed = False
        self.memory = WeekMemory()
        try:
            self.memory = WeekMemory.read(path.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("state-unreadable", file=str(path), reason=str(error))

    def take(self, name: str, unix_s: float, rate: float) -> tuple[float | None, ...]:
        """Take the rate of a topology's sources, and return how busy its next hours usually are."""
        self._changed |= self.memory.take(name, unix_s, rate)
        return self.memory.ahead(name, unix_s)

    def save_changes(self) -> None:
        """Write the memory if an hour has ended since; a disk that does not take it is logged once."""
        if not self._changed:
            return
        self._changed = False
        trouble = ""
        try:
            write_state(self._path, self.memory.content())
        except OSError as error:
            trouble = str(error)
        self._writes.note(trouble)
