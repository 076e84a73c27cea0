"""Profit of areas: the median of what trips that started there have brought in the last 15 minutes."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from typing import Literal

PROFIT_WINDOW_S = 15 * 60
"""Length of the window of profits, seconds of event time; a trip exactly that old is out."""


class Profits:
    """Fares and tips of one share of the areas.

    Args:
        median: `exact`, or `cents`: cut to whole cents (towards zero).
    """

    def __init__(self, median: Literal["exact", "cents"] = "exact") -> None:
        self._cut = median == "cents"
        self._now_s = 0
        self._trips: deque[tuple[int, int, int]] = deque()  # time, area, cents
        self._cents: dict[int, list[int]] = {}  # sorted, of the areas that have a trip
        self._latest: dict[int, int] = {}

    def add(self, row: int, area: int, cents: int) -> None:
        """Count a trip that ends now.

        Args:
            row: Number of the row, higher than any before.
            area: Where the trip started.
            cents: Fare and tip.
        """
        self._trips.append((self._now_s, area, cents))
        of_area = self._cents.get(area)
        if of_area is None:
            self._cents[area] = [cents]
        else:
            insort(of_area, cents)
        self._latest[area] = row

    def advance(self, now_s: int) -> list[int]:
        """Move the clock and let old trips go.

        Args:
            now_s: Event time, seconds, not before any earlier one.

        Returns:
            The areas that trips leave; an area may be named twice.
        """
        self._now_s = now_s
        trips = self._trips
        left = []
        while trips and trips[0][0] <= now_s - PROFIT_WINDOW_S:
            _, area, cents = trips.popleft()
            left.append(area)
            of_area = self._cents[area]
            if len(of_area) == 1:
                del self._cents[area], self._latest[area]
            else:
                del of_area[bisect_left(of_area, cents)]
        return left

    def half_cents(self, area: int) -> int | None:
        """Return the median profit of an area in half cents, None when no trip started there."""
        of_area = self._cents.get(area)
        if of_area is None:
            return None
        middle, odd = divmod(len(of_area), 2)
        if odd:
            return 2 * of_area[middle]
        double = of_area[middle - 1] + of_area[middle]
        if self._cut and double % 2:
            return double - 1 if double > 0 else double + 1
        return double

    def latest(self, area: int) -> int:
        """Return the row of the area's latest trip in the window, 0 when there is none.

        Trips leave in the order in which they came, so that is the latest that ever started there.
        """
        return self._latest.get(area, 0)
