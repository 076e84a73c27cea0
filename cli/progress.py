"""Progress of a long command: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Task

_LINE_EVERY_S = 60.0


class _Detail(ProgressColumn):
    """Takes what is left of the line: a narrow terminal cuts it off, and nothing else."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["detail"], style="dim", no_wrap=True, overflow="ellipsis")


def _whole() -> Column:
    return Column(no_wrap=True)


class StepProgress:
    """Shows which of `total` steps is running and its latest detail."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True)
        self._total = total
        self._done = -1
        self._progress = Progress(
            SpinnerColumn(),
            MofNCompleteColumn(table_column=_whole()),
            BarColumn(bar_width=24),
            TimeElapsedColumn(table_column=_whole()),
            TextColumn("{task.description}"),
            _Detail(),
            console=self._console,
        )
        self._task = self._progress.add_task("", total=total, detail="")
        self._live = self._console.is_terminal
        self._line_s = time.monotonic()

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
            self._write(f"[{min(self._done + 1, self._total)}/{self._total}] {title}")

    def detail(self, text: str) -> None:
        """Show what the running step is at; where there is no terminal, once a minute."""
        self._progress.update(self._task, detail=text.strip())
        if not self._live and time.monotonic() - self._line_s >= _LINE_EVERY_S:
            self._write(f"    {text.strip()}")

    def _write(self, line: str) -> None:
        self._line_s = time.monotonic()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def stop(self) -> None:
        """End the display; later text stands below it."""
        if self._live:
            self._progress.stop()
            self._live = False
