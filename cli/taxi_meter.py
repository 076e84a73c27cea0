"""Progress of feeding and collecting rows: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time

import typer

_LINE_EVERY_S = 5.0


class Meter:
    """A progress bar on a terminal, a line every few seconds elsewhere; both on standard error."""

    def __init__(self, unit: str) -> None:
        from rich.console import Console  # noqa: PLC0415 - keeps other commands quick
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        self._unit = unit
        self._said: set[str] = set()
        self._start_s = time.monotonic()
        self._line_s = self._start_s
        console = Console(stderr=True)
        self._bar = (
            Progress(BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), console=console)
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", total=None) if self._bar is not None else None

    def __enter__(self) -> None:
        if self._bar is not None:
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say_once(self, text: str) -> None:
        """Write a line of its own, when it is asked for the first time."""
        if text in self._said:
            return
        self._said.add(text)
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            typer.echo(text, err=True)

    def show(self, done: int, total: int, note: str) -> None:
        """Show `done` of `total` (0: unknown)."""
        now_s = time.monotonic()
        rate = done / max(now_s - self._start_s, 1e-3)
        text = f"{rate:.0f} {self._unit}/s" + (f", {note}" if note else "")
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total or None, description=text)
        elif now_s - self._line_s >= _LINE_EVERY_S:
            self._line_s = now_s
            typer.echo(f"{done} of {total or '?'} {self._unit}, {text}", err=True)
