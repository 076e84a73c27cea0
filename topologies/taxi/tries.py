"""How often in a row the source has begun an epoch that led no further, and how long the next one waits."""

from __future__ import annotations

MOST_WAIT_S = 60.0
"""No wait is longer, unless its first was."""

_MOST_DOUBLINGS = 30
_PROBE_SHARE = 0.1
_LEAP_MS = 1_000
_LEAP_UNIT_S = 5.0
_MOST_LEAP_MS = 10**9


class Tries:
    """Epochs that led no further than the ones before.

    Two kinds differ in what they cost. An epoch whose first row was worked off has sent all rows from which
    the windows are rebuilt: the wait for the next one is doubled each time. One whose first row never came
    through has sent that row only: somewhere a worker is gone or starting, so the wait is a tenth of the time
    that nothing has moved for, and an outage is prolonged by no more than that.

    Args:
        now_s: Monotonic seconds.

    Attributes:
        count: How many.
    """

    def __init__(self, now_s: float) -> None:
        self.further(now_s)

    def further(self, now_s: float) -> None:
        """Note that a row was worked off that never was before."""
        self.count = 0
        self._in_full = 0
        self._report_from = 0
        self._since_s = now_s

    def under_way(self, now_s: float) -> None:
        """Note that rows are under way where none were: nothing can have been stuck before."""
        if not self.count:
            self._since_s = now_s

    def add(self, *, in_full: bool) -> None:
        """Count an epoch that is given up.

        Args:
            in_full: Whether its first row was worked off.
        """
        self.count += 1
        self._in_full += in_full

    def take_report(self) -> bool:
        """Return whether to report a fault now: it is new, or tries have doubled since the last report."""
        if self.count < self._report_from:
            return False
        self._report_from = max(1, 2 * self.count)
        return True

    def stuck_s(self, now_s: float) -> float:
        """Return for how long no row got further, seconds."""
        return now_s - self._since_s

    def wait_s(self, least_s: float, now_s: float, *, in_full: bool) -> float:
        """Return how long an epoch may go without progress before it is given up, seconds.

        Args:
            least_s: The shortest wait.
            now_s: Monotonic seconds.
            in_full: Whether its first row was worked off.
        """
        wait_s = (
            least_s * 2.0 ** min(self._in_full, _MOST_DOUBLINGS)
            if in_full
            else _PROBE_SHARE * self.stuck_s(now_s)
        )
        return max(least_s, min(wait_s, MOST_WAIT_S))

    def leap_ms(self, now_s: float) -> int:
        """Return by how much the next epoch's number has to rise, besides one.

        Bolts may remember epochs that neither Redis nor its clock knows of any more: the longer nothing has
        moved, the further ahead each try looks, by the square of the time.
        """
        if not self.count:
            return 0
        return min(int(_LEAP_MS * (self.stuck_s(now_s) / _LEAP_UNIT_S) ** 2), _MOST_LEAP_MS)
