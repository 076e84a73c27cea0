"""Rows that were read and looked at, and wait to be due."""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from topologies.taxi.replay.check import Checker
from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.stream import add_to_crc
from topologies.taxi.rows import RowsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topologies.taxi.replay.check import Row
    from topologies.taxi.replay.pace import Pace

LARGEST_ENTRY = 1_000
"""Rows of one entry of the stream."""

_PRIMED = 1_000


class RowQueue:
    """Reads rows a little ahead; what breaks off the source comes after the rows before it.

    Args:
        lines: All lines of the source.

    Attributes:
        number: Number of the next row.
        crc: Checksum of the lines that were taken.
    """

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._checker = Checker()
        self._rows: deque[Row] = deque()
        self._broken: RowsError | None = None
        self.crc = 0
        self.number = 1

    def skip(self, rows: int, crc: int) -> None:
        """Leave out the first rows, which have been fed.

        Args:
            rows: How many.
            crc: Their checksum.

        Raises:
            FeedError: They are others.
            RowsError: The source ends or breaks off within them.
        """
        latest: list[bytes] = []
        while self.number <= rows:
            some = list(islice(self._lines, min(_PRIMED, rows + 1 - self.number)))
            if not some:
                break
            self.crc = add_to_crc(some, self.crc)
            self.number += len(some)
            latest = some
        if self.number <= rows or self.crc != crc:
            raise FeedError(
                f"the {rows} rows that were fed are not the first {rows} rows of this source: it has changed",
                status=2,
            )
        if latest:  # so that the order of the next row is known
            self._checker.look_at_all(latest)

    def first(self) -> Row | None:
        """Return the next row without taking it; None at the end.

        Raises:
            RowsError: The source broke off here.
        """
        missing = LARGEST_ENTRY - len(self._rows)
        if missing and self._broken is None:
            lines: list[bytes] = []
            try:
                for line in islice(self._lines, missing):
                    lines.append(line)  # one by one: those before a break are wanted
            except RowsError as error:
                self._broken = error
            if lines:
                self._rows.extend(self._checker.look_at_all(lines))
        if self._rows:
            return self._rows[0]
        if self._broken is not None:
            raise self._broken
        return None

    def take(self, most: int) -> list[Row]:
        """Take at most so many rows, whenever they are due."""
        return self._taken([self._rows.popleft() for _ in range(min(most, len(self._rows)))])

    def take_due(self, pace: Pace, start_s: float, most: int) -> tuple[list[Row], list[float]]:
        """Take the first row, and those behind it that are due as well.

        Args:
            pace: Says when.
            start_s: Monotonic seconds from which it counts.
            most: Most rows.

        Returns:
            The rows and, for each, when it was due: seconds from `start_s`.
        """
        passed_s = time.monotonic() - start_s
        rows: list[Row] = []
        offsets_s: list[float] = []
        while self._rows and len(rows) < most:
            offset_s = pace.offset_s(self.number + len(rows), self._rows[0])
            if rows and offset_s > passed_s:
                break
            rows.append(self._rows.popleft())
            offsets_s.append(offset_s)
        return self._taken(rows), offsets_s

    def _taken(self, rows: list[Row]) -> list[Row]:
        self.number += len(rows)
        self.crc = add_to_crc([row.line for row in rows], self.crc)
        return rows
