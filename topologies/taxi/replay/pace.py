"""How rows are fed: when each is due, in which phases, and how far ahead."""

from __future__ import annotations

from dataclasses import dataclass
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
        together: So many rows are due at once, as from a device that sends what it has gathered.
    """

    def __init__(self, rows_per_s: float, together: int = 1) -> None:
        self._rows_per_s = rows_per_s
        self._together = together
        self._first: int | None = None

    def offset_s(self, number: int, _row: Row) -> float:
        """Return the seconds from the first row to this one."""
        if self._first is None:
            self._first = number
        before = number - self._first
        return (before - before % self._together) / self._rows_per_s


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


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of rows that are fed in one way.

    Attributes:
        pace: When rows are due; None: at once, as fast as they are consumed.
        rows: How many rows; None: all that are left.
        held: Whether rows wait for those before them to be released, as far as `ahead` says.
        drained: Whether it begins when all rows before it are released.
    """

    pace: Pace | None
    rows: int | None = None
    held: bool = True
    drained: bool = False

    @property
    def name(self) -> str:
        """`paced` or `fast`."""
        return "fast" if self.pace is None else "paced"


@dataclass(frozen=True, slots=True)
class Limits:
    """How far feeding goes.

    Attributes:
        ahead: Most rows in Redis beyond the last released one, where rows are held.
        timeout_s: Longest time without any progress of the topology, or with a Redis that is away or full.
        trim: Whether entries go that no query needs any more.
    """

    ahead: int
    timeout_s: float = 120.0
    trim: bool = False
