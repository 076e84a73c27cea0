"""Rows that the source has read but that are not done: which to emit next, with replay."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(slots=True)
class Row:
    """One row, or the end of the rows.

    Attributes:
        n: Its number.
        entry_id: Its entry in Redis.
        line: Its text.
        end: Whether it is the end.
        repeated: Whether an emit of it may have been before the next one.
        emitted_s: When it was emitted last, on the caller's clock.
    """

    n: int
    entry_id: str
    line: str
    end: bool = False
    repeated: bool = False
    emitted_s: float = 0.0


class RowsUnderWay:
    """Chooses rows to emit: those that failed, then those that wait; the end when nothing else is left.

    Args:
        most: Rows that may be under way at once.
        pause_s: Shortest time between two emits of a row, so that one that always fails is no storm.
    """

    def __init__(self, most: int = 1_000, pause_s: float = 1.0) -> None:
        self._most = most
        self._pause_s = pause_s
        self._waiting: dict[int, Row] = {}
        self._under_way: dict[int, Row] = {}
        self._failed: deque[int] = deque()
        self._end: Row | None = None

    @property
    def waiting(self) -> int:
        """Rows that were not emitted yet."""
        return len(self._waiting)

    @property
    def end_is_next(self) -> bool:
        """Whether nothing but the end is left."""
        return self._end is not None and not self._waiting and not self._under_way

    def take(self, row: Row) -> None:
        """Take a row; one that waits or is under way is known already."""
        if row.n in self._waiting or row.n in self._under_way:
            return
        if row.end:
            self._end = row
        else:
            self._waiting[row.n] = row

    def release_end(self) -> None:
        """Let the end go, like any row."""
        if self._end is not None:
            self._waiting[self._end.n] = self._end
            self._end = None

    def next_due(self, now_s: float) -> Row | None:
        """Return the row to emit now, which is under way from then on, or None."""
        if self._failed:
            row = self._under_way[self._failed[0]]
            if now_s - row.emitted_s >= self._pause_s:
                self._failed.popleft()
                row.emitted_s = now_s
                return row
        if not self._waiting or len(self._under_way) >= self._most:
            return None
        row = self._waiting.pop(next(iter(self._waiting)))
        row.emitted_s = now_s
        self._under_way[row.n] = row
        return row

    def acked(self, n: int) -> Row | None:
        """Forget a row that is done, and return it (None: it is not under way)."""
        return self._under_way.pop(n, None)

    def failed(self, n: int) -> None:
        """Let a row be emitted again; one that is not under way changes nothing."""
        row = self._under_way.get(n)
        if row is not None:
            row.repeated = True
            self._failed.append(n)
