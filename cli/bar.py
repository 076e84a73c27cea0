"""Progress of one long job on standard error: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

_LINE_EVERY_S = 5.0


class Bar:
    """A bar with a text behind it, or the text alone as a line every few seconds.

    To be entered while it is shown.
    """

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - keeps other commands quick
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - likewise

        console = Console(stderr=True)
        self._bar = (
            Progress(BarColumn(), TextColumn("{task.description}"), console=console)
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task("", total=None) if self._bar is not None else None
        self._line_s = time.monotonic()

    def __enter__(self) -> None:
        if self._bar is not None:
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, share: float | None, text: Callable[[], str]) -> None:
        """Show how far the job is.

        Args:
            share: Between 0 and 1; None while it is not known.
            text: Called when it will be shown.
        """
        if self._bar is not None and self._task is not None:
            total = None if share is None else 1.0
            self._bar.update(self._task, completed=share or 0.0, total=total, description=text())
        elif time.monotonic() - self._line_s >= _LINE_EVERY_S:
            self._line_s = time.monotonic()
            typer.echo(text(), err=True)

    def say(self, text: str) -> None:
        """Write a line of its own."""
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            typer.echo(text, err=True)


class Meter(Bar):
    """A bar for things of one kind.

    Args:
        unit: What they are called, for example `rows`.
    """

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit
        self._start_s = time.monotonic()

    def count(self, done: int, total: int) -> None:
        """Show `done` of `total` (0: unknown)."""
        self.show(min(1.0, done / total) if total else None, lambda: self._text(done, total))

    def _text(self, done: int, total: int) -> str:
        rate = done / max(time.monotonic() - self._start_s, 1e-3)
        return f"{done:,} of {f'{total:,}' if total else '?'} {self._unit}, {rate:,.0f} {self._unit}/s"
