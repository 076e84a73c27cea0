"""Every listed area of one share in order of rank."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.taxi.areas.profitability import RankedArea

TOP = 10
"""Ranks that the query asks for."""

REPORTED = TOP + 1
"""Ranks that are passed on: with the eleventh a reader sees whether a tie decided the tenth."""


class ShareRanking:
    """All areas of a share are kept, not only the best: one that comes back into the top because others fell
    needs no fresh row of its own, so no rank is ever stale.
    """

    def __init__(self) -> None:
        self._order: list[RankedArea] = []  # worst first
        self._of: dict[int, RankedArea] = {}

    def put(self, area: int, now: RankedArea | None) -> bool:
        """List an area anew, or no longer (None).

        Returns:
            Whether the reported top changed.
        """
        was = self._of.get(area)
        if was == now:
            return False
        order = self._order
        touched = False
        if was is not None:
            place = bisect_left(order, was)
            touched = place + REPORTED >= len(order)
            del order[place]
        if now is None:
            del self._of[area]
        else:
            self._of[area] = now
            insort(order, now)
            touched = touched or len(order) <= REPORTED or now >= order[-REPORTED]
        return touched

    def top(self) -> list[RankedArea]:
        """Return the best `REPORTED` areas, best first (fewer when the share has fewer)."""
        return self._order[: -REPORTED - 1 : -1]
