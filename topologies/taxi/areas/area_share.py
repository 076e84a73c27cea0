"""One share of the areas: their profits, their empty taxis, and their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.taxi.areas.profitability import RankedArea, ranked
from topologies.taxi.areas.profits import Profits
from topologies.taxi.areas.share_ranking import ShareRanking
from topologies.taxi.areas.taxi_stands import TaxiStands

if TYPE_CHECKING:
    from topologies.taxi.areas.choices import AreaChoices


class AreaShare:
    """Takes what a row does to the share's areas, in any order, then looks once at their ranks (`settle`).

    Args:
        choices: How the query is read.
    """

    def __init__(self, choices: AreaChoices) -> None:
        self._keeps_losses = choices.negative_profit == "kept"
        self._lists_idle = choices.idle_areas == "zero"
        self._profits = Profits(choices.median)
        self._stands = TaxiStands()
        self._ranking = ShareRanking()
        self._touched: set[int] = set()

    def advance(self, now_s: int) -> None:
        """Move the clock; it comes before the row's other changes."""
        self._touched.update(self._profits.advance(now_s))

    def taxi(self, area: int, stop: int) -> None:
        """Take a taxi in or let it go; arguments and error as `TaxiStands.change`."""
        self._stands.change(area, stop)
        self._touched.add(area)

    def trip(self, row: int, area: int, cents: int) -> None:
        """Count the row's trip for the area where it started."""
        if cents >= 0 or self._keeps_losses:
            self._profits.add(row, area, cents)
            self._touched.add(area)

    def settle(self) -> list[RankedArea] | None:
        """Rank what the row has changed.

        Returns:
            The share's best areas, best first, when something about them changed.
        """
        changed = False
        for area in self._touched:
            if self._ranking.put(area, self._judged(area)):
                changed = True
        self._touched.clear()
        return self._ranking.top() if changed else None

    def _judged(self, area: int) -> RankedArea | None:
        empty, stop = self._stands.at(area)
        if not empty:
            return None
        half_cents = self._profits.half_cents(area)
        if half_cents is None:
            if not self._lists_idle:
                return None
            half_cents = 0
        return ranked(area, half_cents, empty, max(stop, self._profits.latest(area)))
