"""Counts trips per route in a sliding window, exactly."""

from __future__ import annotations

from collections import deque
from itertools import takewhile
from typing import NamedTuple

from topologies.taxi.event_window import EventWindow

WINDOW_S = 30 * 60
"""Length of query 1's window in seconds of event time."""

ROW_BITS = 40
"""Bits that hold the number of a row."""


class RouteCount(NamedTuple):
    """How often a route was taken in the window.

    Attributes:
        route: The route's text.
        count: Trips in the window; 0 says that the route left it.
        freshest: Row of the route's freshest trip in the window, or of a `ChangeWindow` its latest
            change; decides between equal counts.
    """

    route: str
    count: int  # type: ignore[assignment]  # hides a tuple's method, which is not needed here
    freshest: int


class SlidingWindow(EventWindow[tuple[int, str]]):
    """Counts of one share of the routes over a half-open window: a trip exactly `length_s` old is out.

    Time advances only with `advance`; nothing expires in between. Every share has to be advanced whenever the
    query's clock moves, also for rows of other shares, so that all shares agree on the time.

    Args:
        now_s: The query's clock, seconds; None: nothing has passed yet.
        length_s: Length of the window, seconds.
    """

    def __init__(self, now_s: int | None = None, length_s: int = WINDOW_S) -> None:
        super().__init__(length_s, now_s)
        self._counts: dict[str, int] = {}
        self._freshest: dict[str, int] = {}
        self._changed: dict[str, None] = {}

    def advance(self, now_s: int, row: int = 0) -> None:  # noqa: ARG002 - for `ChangeWindow`
        """Move the clock and let old trips go.

        Args:
            now_s: Event time of the row in hand, seconds.
            row: Its number, where the order of changes is asked for.

        Raises:
            ValueError: The time goes back.
        """
        if self._now_s is not None and now_s < self._now_s:
            raise ValueError(f"event time goes back from {self._now_s} s to {now_s} s")
        self._now_s = now_s
        while self._held and self._held[0][0] <= now_s - self._length_s:
            _, route = self._held.popleft()
            self._counts[route] -= 1
            self._changed[route] = None
            if not self._counts[route]:
                del self._counts[route], self._freshest[route]

    def add(self, route: str, row: int) -> None:
        """Count a trip that ends now.

        Args:
            route: The route's text.
            row: The row's number, greater than any before.

        Raises:
            ValueError: The clock was never set.
        """
        self._held.append((self.now_s, route))
        self._counts[route] = self._counts.get(route, 0) + 1
        self._freshest[route] = row
        self._changed[route] = None

    def take_changes(self) -> list[tuple[str, int, int]]:
        """Return route, count and freshest row of each route that changed since the last call, in order."""
        counts, freshest = self._counts, self._freshest
        changes = [(route, counts.get(route, 0), freshest.get(route, 0)) for route in self._changed]
        self._changed.clear()
        return changes


class ChangeWindow(SlidingWindow):
    """As `SlidingWindow`, but `freshest` says when a route's count changed last, gains and losses alike.

    It is the row with which the count changed, and in the lower `ROW_BITS` bits the row of the trip that came
    or went. So what leaves with a row is in the order in which it came, and before the row's own trip, in all
    shares alike.
    """

    def __init__(self, now_s: int | None = None, length_s: int = WINDOW_S) -> None:
        super().__init__(now_s, length_s)
        self._rows: deque[int] = deque()

    def advance(self, now_s: int, row: int = 0) -> None:
        """Move the clock with a row and let old trips go; errors as of `SlidingWindow.advance`."""
        old = list(takewhile(lambda trip: trip[0] <= now_s - self._length_s, self._held))
        super().advance(now_s, row)
        for _, route in old:
            trip = self._rows.popleft()
            if route in self._freshest:
                self._freshest[route] = (row << ROW_BITS) | trip

    def add(self, route: str, row: int) -> None:
        """Count a trip; errors as of `SlidingWindow.add`."""
        super().add(route, row)
        self._rows.append(row)
        self._freshest[route] = (row << ROW_BITS) | row
