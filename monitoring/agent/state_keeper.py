"""The state file of a running agent: read once, written from time to time beside the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from monitoring.agent import state
from monitoring.state_file import WriteLog

if TYPE_CHECKING:
    from pathlib import Path

    from formats.log import Log


class StateKeeper:
    """Reads and writes a state file, and logs each change of trouble with it once.

    Files are written in a thread: a disk may take seconds to say that it has them, and answers that the event
    loop reads that late would look like long delays.

    Args:
        path: The file; None to keep nothing.
        log: Takes one line per change of state.
    """

    def __init__(self, path: Path | None, log: Log) -> None:
        self._path = path
        self._log = log
        self._writes = WriteLog(path, log)
        self._under_way: asyncio.Task[None] | None = None

    def restore(self, dimensions: int, unix_time_s: float) -> state.State | None:
        """Give the state to go on from; None for a start from nothing.

        Args:
            dimensions: Dimensions of the coordinate space in use.
            unix_time_s: The wall clock, s.
        """
        path = self._path
        if path is None:
            return None
        try:
            saved = state.load(
                path,
                dimensions,
                lambda reason: self._log.warning("state-links-unreadable", file=str(path), reason=reason),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._log.warning("state-unreadable", file=str(path), reason=str(error))
            return None
        return state.resume(saved, unix_time_s)

    def save_soon(self, now: state.State) -> None:
        """Begin to write, unless the last write is still under way; needs a running event loop."""
        if self._path is None:
            return
        if self._under_way is not None:
            if not self._under_way.done():
                return
            self._under_way.result()  # raises what was no trouble of the disk
        self._under_way = asyncio.create_task(self._write(self._path, now))

    async def save(self, now: state.State) -> None:
        """Write after the write that is under way, and wait until it is done."""
        if self._path is None:
            return
        if self._under_way is not None:
            await self._under_way
        await self._write(self._path, now)

    async def _write(self, path: Path, now: state.State) -> None:
        trouble = ""
        try:
            await asyncio.to_thread(state.save, path, now)
        except OSError as error:
            trouble = str(error)
        self._writes.note(trouble)
