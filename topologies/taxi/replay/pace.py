"""Says when a row is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from topologies.taxi.replay.check import Row


class Pace(Protocol):
    """Says how long after the first row a row is due."""

    def offset_s(self, number: int, row: Row) -> float:
        """Return the seconds from the first row that was asked for to this one; rows are asked for in order.

        Asked for one row twice it answers the same. It never goes back.
        """


class Rate:
    """So many rows per second.

    Args:
        rows_per_s: The rate, above 0.
    """

    def __init__(self, rows_per_s: float) -> None:
        self._rows_per_s = rows_per_s
        self._first: int | None = None

    def offset_s(self, number: int, _row: Row) -> float:
        """Return the seconds from the first row to this one."""
        if self._first is None:
            self._first = number
        return (number - self._first) / self._rows_per_s


class Speed:
    """As fast as the rows' drop-off times pass, times a factor.

    A row without a readable time, or whose time goes back, is due with the row before it.

    Args:
        factor: 1 for true speed.
    """

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._first_s: int | None = None
        self._latest_s = 0

    def offset_s(self, _number: int, row: Row) -> float:
        """Return the seconds from the first row to this one."""
        if row.time_s is not None:
            if self._first_s is None:
                self._first_s = row.time_s
            self._latest_s = max(self._latest_s, row.time_s - self._first_s)
        return self._latest_s / self._factor
