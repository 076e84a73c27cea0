"""Drop-off instants: which row is an instant's last, known once the time has moved on."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from topologies.batches.ranges import unpack_ranges

if TYPE_CHECKING:
    from topologies.batches.clock import Account, Ticks


class Instants:
    """Follows a query's time, batch by batch, and says which instants are over.

    Args:
        now_s: The query's clock when the epoch begins; None: no row has passed yet.
    """

    def __init__(self, now_s: int | None) -> None:
        self._now_s = now_s
        self._last: int | None = None

    def over(self, ticks: Ticks, account: Account) -> list[tuple[int, int, int]]:
        """Take a batch.

        Returns:
            For each instant that is over: the row with which the time moved on, the instant's last row, and
            its time (seconds since 1970). At the end of the rows the last instant is over too. An instant
            that has no row in this epoch is left out.
        """
        passed = list(unpack_ranges(account.passed))
        found: list[tuple[int, int, int]] = []
        for step in ticks.steps:
            index = bisect_left(passed, step.n)
            self._note(found, step.n, passed[index - 1] if index else self._last)
            self._now_s = step.time_s
        if passed:
            self._last = passed[-1]
        if account.end and self._last is not None:
            self._note(found, self._last + 1, self._last)
        return found

    def _note(self, found: list[tuple[int, int, int]], row: int, last: int | None) -> None:
        if last is not None and self._now_s is not None:
            found.append((row, last, self._now_s))
