"""Rows that come again: counted once per window, but all that they changed is told again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.taxi.window import RouteCount, SlidingWindow


class Retelling:
    """Remembers which routes' counts each row of the window changed.

    A row comes again when something after the window did not get it, which then misses these counts, not only
    the row's own. However late it comes, it is known as long as the window counts it, and no longer: what is
    remembered is bounded as the window is.

    Args:
        window: The window that rows are counted in, and by nobody else.
    """

    def __init__(self, window: SlidingWindow) -> None:
        self._window = window
        self._told: dict[int, tuple[str, ...]] = {}
        self._counted: deque[int] = deque()

    def count(self, n: int, route: str, p: int) -> list[RouteCount]:
        """Count a row unless the window has it, and return what is to be told of it.

        Args:
            n: The row's number. The window's clock is set to the row.
            route: The row's route.
            p: Sequence number, greater than any before.
        """
        while len(self._counted) > self._window.trips:
            del self._told[self._counted.popleft()]
        before = self._told.get(n)
        if before is None:
            self._window.add(route, p)
            self._counted.append(n)
        else:
            self._window.touch(before)
        changes = self._window.take_changes()
        self._told[n] = tuple(change.route for change in changes)
        return changes
