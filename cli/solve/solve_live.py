"""The line that shows on a terminal how far `solve` has come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem

_PER_SECOND = 8


class LiveLine:
    """Shows best placement, bound, gap and time on standard error, in place, inside its block.

    On anything but a terminal nothing is shown.

    Args:
        problem: What is solved.
        strategy: By whom.
        time_limit_s: Seconds that it may take, or None.
    """

    def __init__(self, problem: Problem, strategy: str, time_limit_s: float | None) -> None:
        self._problem = problem
        self._strategy = strategy
        self._limit = "" if time_limit_s is None else f" of {time_limit_s:g}"
        self._began_s = time.monotonic()
        self._progress: Progress | None = None
        self._response_time = ""
        console = Console(stderr=True)
        self._live = (
            Live(get_renderable=self._line, console=console, transient=True, refresh_per_second=_PER_SECOND)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> LiveLine:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def report(self, progress: Progress, /) -> None:
        """Take notice of progress."""
        from scheduler.evaluation.evaluate import evaluate  # noqa: PLC0415  # numpy loads only when something is solved

        if self._live is None:
            return
        if progress.placement is not None:
            worth = evaluate(self._problem, progress.placement)
            self._response_time = f"  R {worth.response_time_ms:.1f} ms"
        self._progress = progress

    def _line(self) -> Text:
        from scheduler.contract.result import relative_gap  # noqa: PLC0415  # see report

        seconds = time.monotonic() - self._began_s
        parts = [self._strategy]
        progress = self._progress
        if progress is not None:
            parts.append(f"  F {progress.objective:.6f}{self._response_time}")
            if progress.bound is not None:
                parts.append(f"  bound {progress.bound:.6f}")
                gap = relative_gap(progress.objective, progress.bound)
                parts.append("" if gap is None else f"  gap {100 * gap:.2f} %")
            parts.append(f"  by {progress.source}")
        parts.append(f"  {seconds:.1f}{self._limit} s")
        return Text("".join(parts), no_wrap=True, overflow="ellipsis")
