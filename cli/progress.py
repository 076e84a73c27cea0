"""Progress of a long command: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from types import TracebackType


class StepProgress:
    """Shows which of `total` steps is running and its latest detail."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True)
        self._total = total
        self._done = -1
        self._progress = Progress(
            SpinnerColumn(),
            MofNCompleteColumn(),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            TextColumn("[dim]{task.fields[detail]}"),
            console=self._console,
        )
        self._task = self._progress.add_task("", total=total, detail="")
        self._live = self._console.is_terminal

    def __enter__(self) -> Self:
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def step(self, title: str) -> None:
        """Begin the next step."""
        self._done += 1
        self._progress.update(self._task, completed=self._done, description=title, detail="")
        if not self._live:
            sys.stderr.write(f"[{min(self._done + 1, self._total)}/{self._total}] {title}\n")
            sys.stderr.flush()

    def detail(self, text: str) -> None:
        """Show what the running step is at; only on a terminal."""
        self._progress.update(self._task, detail=text.strip()[:70])

    def stop(self) -> None:
        """End the display; later text stands below it."""
        if self._live:
            self._progress.stop()
            self._live = False
