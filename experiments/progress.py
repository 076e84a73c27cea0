"""What an experiment needs of a display of its progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """Shows which of an experiment's steps is running."""

    def step(self, title: str) -> None:
        """Begin the next step."""
        ...

    def detail(self, text: str) -> None:
        """Show what the running step is at."""
        ...

    def stop(self) -> None:
        """End the display; later text stands below it."""
        ...


Display = Callable[[int], AbstractContextManager[Progress]]
"""Makes a display for so many steps."""
