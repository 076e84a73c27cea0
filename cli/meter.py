"""Progress of things that are counted: how many of how many, and how many a second."""

from __future__ import annotations

import time

from cli.bar import Bar


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
