"""Progress of rows on their way into Redis: how many, how fast, how late."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cli.bar import Bar
from topologies.taxi.keys import PACED_ROWS_BEGIN

if TYPE_CHECKING:
    from topologies.taxi.replay.outcome import Progress


class ReplayDisplay(Bar):
    """A bar for rows that are fed."""

    def __init__(self) -> None:
        super().__init__()
        self._note = ""
        self._paced = False
        self._shown_s = time.monotonic()
        self._shown_fed: int | None = None

    def report(self, progress: Progress) -> None:
        """Show where feeding stands, and say what is new: paced rows, something that has to be waited for."""
        if progress.phase == "paced" and not self._paced:
            self._paced = True
            self.say(PACED_ROWS_BEGIN)
        waiting = progress.note if progress.phase == "waiting" else ""
        if waiting != self._note:
            self.say(f"{waiting}: waiting" if waiting else "going on")
            self._note = waiting
        if self._shown_fed is None:
            self._shown_fed = progress.fed
        self.show(min(1.0, progress.share), lambda: self._text(progress))

    def _text(self, progress: Progress) -> str:
        """Return a line with the rate since the last one."""
        now_s = time.monotonic()
        rate = (progress.fed - (self._shown_fed or 0)) / max(now_s - self._shown_s, 1e-3)
        self._shown_s, self._shown_fed = now_s, progress.fed
        of = f" of {progress.rows:,}" if progress.rows else ""
        parts = [f"{progress.share:.0%}", f"{progress.fed:,}{of} rows", f"{rate:,.0f} rows/s", progress.phase]
        if progress.phase == "paced":
            parts.append(f"{progress.lag_ms:.1f} ms late")
        parts.append(f"{max(0, progress.fed - progress.released):,} rows ahead of the results")
        if progress.note:
            parts.append(progress.note)
        return ", ".join(parts)
