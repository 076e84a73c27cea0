"""Progress of rows on their way into Redis: a bar on a terminal, lines elsewhere; both on standard error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from topologies.taxi.replay.outcome import Progress

PACED_ROWS_BEGIN = "paced rows begin"
"""What is written when they do, at the start of a line."""

_LINE_EVERY_S = 5.0


class ReplayDisplay:
    """Shows how far, how fast and how late the rows are."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - keeps other commands quick
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415 - likewise

        console = Console(stderr=True)
        self._bar = (
            Progress(BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), console=console)
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", total=1.0) if self._bar is not None else None
        self._note = ""
        self._paced = False
        self._shown_s = time.monotonic()
        self._shown_fed: int | None = None

    def __enter__(self) -> None:
        if self._bar is not None:
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Show where feeding stands, and say what is new: paced rows, something that has to be waited for."""
        if progress.phase == "paced" and not self._paced:
            self._paced = True
            self._say(PACED_ROWS_BEGIN)
        waiting = progress.note if progress.phase == "waiting" else ""
        if waiting != self._note:
            self._say(f"{waiting}: waiting" if waiting else "going on")
            self._note = waiting
        now_s = time.monotonic()
        if self._shown_fed is None:
            self._shown_fed = progress.fed
        if self._bar is not None and self._task is not None:
            text = self._text(progress, now_s)
            self._bar.update(self._task, completed=min(1.0, progress.share), description=text)
        elif now_s - self._shown_s >= _LINE_EVERY_S:
            typer.echo(f"{progress.share:.0%}, {self._text(progress, now_s)}", err=True)

    def _text(self, progress: Progress, now_s: float) -> str:
        """Return a line with the rate since the last one."""
        rate = (progress.fed - (self._shown_fed or 0)) / max(now_s - self._shown_s, 1e-3)
        self._shown_s, self._shown_fed = now_s, progress.fed
        of = f" of {progress.rows:,}" if progress.rows else ""
        parts = [f"{progress.fed:,}{of} rows", f"{rate:,.0f} rows/s", progress.phase]
        if progress.phase == "paced":
            parts.append(f"{progress.lag_ms:.1f} ms late")
        parts.append(f"{max(0, progress.fed - progress.released):,} rows ahead of the results")
        if progress.note:
            parts.append(progress.note)
        return ", ".join(parts)

    def _say(self, text: str) -> None:
        """Write a line of its own."""
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            typer.echo(text, err=True)
