"""One share of the areas: their profits, their empty taxis, and their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.taxi.areas.area import Area
from topologies.taxi.areas.share_ranking import CentsRanking, ShareRanking
from topologies.taxi.event_window import EventWindow

if TYPE_CHECKING:
    from formats.semantics import Semantics
    from topologies.taxi.areas.profitability import RankedArea

PROFIT_WINDOW_S = 15 * 60
"""Length of the window of profits, seconds of event time; a trip exactly that old is out."""


class AreaShare(EventWindow[tuple[int, Area, int]]):
    """Takes what a row does to the share's areas, then looks once at their ranks (`settle`).

    The clock comes first; the order of the row's other changes makes no difference.

    Args:
        semantics: How the query is read.
        now_s: The query's clock, seconds; None: nothing has passed yet.
    """

    def __init__(self, semantics: Semantics, now_s: int | None = None) -> None:
        super().__init__(PROFIT_WINDOW_S, now_s)  # of trips: time, start, cents
        self._keeps_losses = semantics.negative_profit == "kept"
        self._areas: dict[int, Area] = {}
        self._touched: set[Area] = set()
        ranking = CentsRanking if semantics.profitability == "cents" else ShareRanking
        self._ranking = ranking(semantics, self._areas)

    def advance(self, now_s: int) -> None:
        """Move the clock and let old trips go.

        Args:
            now_s: Event time, seconds, not before any earlier one.
        """
        self._now_s = now_s
        trips = self._held
        while trips and trips[0][0] <= now_s - PROFIT_WINDOW_S:
            _, area, cents = trips.popleft()
            area.forget(cents)
            self._touched.add(area)

    def taxi(self, number: int, stop: int) -> None:
        """Take a taxi into an area or let it go; `stop` and error as `Area.taxi`."""
        area = self._areas.get(number)
        if area is None:
            area = self._areas[number] = Area(number)
        area.taxi(stop)
        self._touched.add(area)

    def trip(self, row: int, number: int, cents: int) -> None:
        """Count the row's trip for the area where it started.

        Raises:
            ValueError: The clock was never set.
        """
        if cents >= 0 or self._keeps_losses:
            area = self._areas.get(number)
            if area is None:
                area = self._areas[number] = Area(number)
            area.earn(row, cents)
            self._held.append((self.now_s, area, cents))
            self._touched.add(area)

    def settle(self) -> list[RankedArea] | None:
        """Rank what the row has changed.

        Returns:
            The share's best areas, best first, when something about them changed.
        """
        changed = self._ranking.update(self._touched)
        for area in self._touched:
            if not area.stops and not area.amounts:
                del self._areas[area.number]
        self._touched.clear()
        return self._ranking.top() if changed else None
