"""One share of the taxis: where each was last seen to drop off, for 30 minutes."""

from __future__ import annotations

from topologies.taxi.event_window import EventWindow

EMPTY_WINDOW_S = 30 * 60
"""How long a taxi counts as empty after its drop-off, seconds of event time; exactly that long is out."""


class TaxiShare(EventWindow[tuple[int, int, str]]):
    """The empty taxis, and how they come to areas and leave them.

    A change is an area, and the row of the drop-off that made the taxi empty there, negative when it leaves.

    Args:
        now_s: The query's clock, seconds; None: nothing has passed yet.
    """

    def __init__(self, now_s: int | None = None) -> None:
        # of drop-offs: time, row, medallion; also of taxis that went on
        super().__init__(EMPTY_WINDOW_S, now_s)
        self._at: dict[str, tuple[int, int]] = {}  # area and row of each empty taxi's drop-off

    def drop_off(self, row: int, medallion: str, area: int) -> list[tuple[int, int]]:
        """Take a trip's end: the taxi leaves where it was, and is empty in the new area.

        Args:
            row: Number of the row, higher than any before.
            medallion: The taxi.
            area: Where it is now.

        Returns:
            The changes.

        Raises:
            ValueError: The clock was never set.
        """
        was = self._at.get(medallion)
        self._at[medallion] = (area, row)
        self._held.append((self.now_s, row, medallion))
        return [(area, row)] if was is None else [(was[0], -was[1]), (area, row)]

    def advance(self, now_s: int) -> list[tuple[int, int]]:
        """Move the clock and let taxis go that have been empty for too long.

        Args:
            now_s: Event time, seconds, not before any earlier one.

        Returns:
            The changes.
        """
        self._now_s = now_s
        stops = self._held
        changes = []
        while stops and stops[0][0] <= now_s - EMPTY_WINDOW_S:
            _, row, medallion = stops.popleft()
            at = self._at.get(medallion)
            if at is not None and at[1] == row:
                del self._at[medallion]
                changes.append((at[0], -row))
        return changes
