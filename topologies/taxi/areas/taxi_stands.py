"""Which empty taxis stand in the areas of a share: the rows of their drop-offs."""

from __future__ import annotations

from bisect import bisect_left, insort


class TaxiStands:
    """Rows of the drop-offs of each area's empty taxis, in order."""

    def __init__(self) -> None:
        self._stops: dict[int, list[int]] = {}

    def change(self, area: int, stop: int) -> None:
        """Take a taxi in, or let it go.

        Args:
            area: The area.
            stop: Row of the taxi's drop-off there, negative when the taxi leaves.

        Raises:
            ValueError: A taxi leaves that was not there.
        """
        stops = self._stops.get(area)
        if stop > 0:
            if stops is None:
                self._stops[area] = [stop]
            else:
                insort(stops, stop)
            return
        place = bisect_left(stops, -stop) if stops else 0
        if not stops or place == len(stops) or stops[place] != -stop:
            msg = f"area {area}: no empty taxi of row {-stop} is there to leave"
            raise ValueError(msg)
        del stops[place]
        if not stops:
            del self._stops[area]

    def at(self, area: int) -> tuple[int, int]:
        """Return how many empty taxis stand in an area, and the latest drop-off among them (0: none)."""
        stops = self._stops.get(area)
        return (len(stops), stops[-1]) if stops else (0, 0)
