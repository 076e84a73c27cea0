"""Rows that come again: counted once per window, but all that they changed is told again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.taxi.window import RouteCount, SlidingWindow


class Retelling:
    """Remembers which routes' counts the latest rows changed.

    A row comes again when something after the window did not get it, which then misses these counts, not only
    the row's own.

    Args:
        rows: Latest rows to remember; more than may be under way at once.
    """

    def __init__(self, rows: int = 10_000) -> None:
        self._most = rows
        self._told: dict[int, tuple[str, ...]] = {}

    def count(self, window: SlidingWindow, n: int, route: str, p: int) -> list[RouteCount]:
        """Count a row unless it was counted before, and return what is to be told of it.

        Args:
            window: The window, its clock set to the row.
            n: The row's number.
            route: The row's route.
            p: Sequence number, greater than any before.
        """
        before = self._told.pop(n, None)
        if before is None:
            window.add(route, p)
        else:
            window.touch(before)
        changes = window.take_changes()
        self._told[n] = tuple(change.route for change in changes)
        if len(self._told) > self._most:
            del self._told[next(iter(self._told))]
        return changes
