"""One area: the trips that count for its profit, and the empty taxis in it."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.taxi.areas.profitability import RankedArea


class Area:
    """What is in the windows of one area.

    Attributes:
        number: The area's number.
        amounts: Fare + tip of the trips that count for its profit, cents, sorted.
        latest_trip: Row of the latest trip that started here; trips leave in the order in which they came, so
            it is in the window while any is.
        stops: Rows of the drop-offs of its empty taxis, sorted.
        rank: How it is listed; None: not at all.
    """

    __slots__ = ("amounts", "latest_trip", "number", "rank", "stops")

    def __init__(self, number: int) -> None:
        self.number = number
        self.amounts: list[int] = []
        self.latest_trip = 0
        self.stops: list[int] = []
        self.rank: RankedArea | None = None

    def earn(self, row: int, cents: int) -> None:
        """Count a trip; its row is higher than any before."""
        insort(self.amounts, cents)
        self.latest_trip = row

    def forget(self, cents: int) -> None:
        """Take out a trip that was counted."""
        del self.amounts[bisect_left(self.amounts, cents)]

    def taxi(self, stop: int) -> None:
        """Take a taxi in, or let it go.

        Args:
            stop: Row of the taxi's drop-off here, negative when the taxi leaves.

        Raises:
            ValueError: A taxi leaves that was not there.
        """
        stops = self.stops
        if stop > 0:
            insort(stops, stop)
            return
        place = bisect_left(stops, -stop)
        if place == len(stops) or stops[place] != -stop:
            raise ValueError(f"area {self.number}: no empty taxi of row {-stop} is there to leave")
        del stops[place]

    def half_cents(self) -> int:
        """Return the median of the amounts, of which there is one at least, in half cents."""
        amounts = self.amounts
        middle = len(amounts) >> 1
        if len(amounts) & 1:
            return 2 * amounts[middle]
        return amounts[middle - 1] + amounts[middle]
