"""Batches of rows: whatever is there, in order, never across a border that matters to a query."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topologies.batches.header import Header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topologies.redis_io.reader import Entry
    from topologies.taxi.epochs import Began

MOST_ROWS = 1_000
"""Rows of a batch at most."""


class RowsGoneError(Exception):
    """Rows of the run are not in Redis: it cannot be completed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What the source sends as one tuple.

    Attributes:
        header: Its rows.
        entries: `n id` joined by `;`: its entries in Redis, each with its first row in the batch.
        end: Whether it is the end of the rows, which takes the number of a row.
        lines: The rows' lines, joined by line feeds.
    """

    header: Header
    entries: str
    end: bool
    lines: str


class _Piece(NamedTuple):
    """Rows of one entry; no lines: the end."""

    first: int
    entry: str
    lines: list[str]


class Batcher:
    """Makes batches of an epoch's rows.

    The first one is a probe of a single row: nothing follows until it is worked off. So an epoch that begins
    while workers are gone costs one row, not all from which the windows are rebuilt.

    Args:
        began: The epoch.
        run: Id of the run.
        ahead: Most rows beyond the last one that is worked off.
    """

    def __init__(self, began: Began, run: str, ahead: int) -> None:
        self._epoch = began.epoch
        self._origin = began.origin
        self._queries = began.packed
        self._run = run
        self._ahead = ahead
        starts = began.queries.values()
        self._cuts = sorted({row for each in starts for row in (each.start, each.released + 1)}, reverse=True)
        self._read = began.origin
        self._pieces: deque[_Piece] = deque()

    @property
    def epoch(self) -> int:
        """The epoch's number."""
        return self._epoch

    @property
    def origin(self) -> int:
        """The epoch's first row."""
        return self._origin

    @property
    def waiting(self) -> int:
        """Rows that were taken and are in no batch yet."""
        return self._read - self._pieces[0].first if self._pieces else 0

    def take(self, entries: Iterable[Entry]) -> list[str]:
        """Take what was read.

        Returns:
            A sentence for each entry that is none; they are left out.

        Raises:
            RowsGoneError: Rows before it are missing.
        """
        bad = []
        for entry in entries:
            fields = entry.fields
            number = fields.get("n", "")
            if not (number.isascii() and number.isdigit()) or not fields.keys() & {"lines", "end"}:
                bad.append(
                    f"rows entry {entry.id} has no number, or neither lines nor end: {str(fields)[:200]}"
                )
                continue
            self._add(int(number), entry.id, [] if "end" in fields else fields["lines"].split("\n"))
        return bad

    def next_batch(self, seen: int) -> Batch | None:
        """Return the next batch, or None while nothing is there or too much is under way.

        Args:
            seen: Last row that is worked off in this epoch.
        """
        probing = seen < self._origin
        if not self._pieces or self._pieces[0].first > (self._origin if probing else seen + self._ahead):
            return None
        first = self._pieces[0].first
        while self._cuts and self._cuts[-1] <= first:
            self._cuts.pop()
        stop = first + (1 if probing else MOST_ROWS)
        if self._cuts:
            stop = min(stop, self._cuts[-1])
        lines: list[str] = []
        entries: list[str] = []
        while self._pieces and first + len(lines) < stop:
            piece = self._pieces[0]
            if not piece.lines:
                break
            room = stop - piece.first
            entries.append(f"{piece.first} {piece.entry}")
            lines += piece.lines[:room]
            self._pieces.popleft()
            if room < len(piece.lines):
                self._pieces.appendleft(_Piece(stop, piece.entry, piece.lines[room:]))
        end = not lines
        if end:
            piece = self._pieces.popleft()
            entries.append(f"{piece.first} {piece.entry}")
        header = Header(self._epoch, self._origin, first, first + (len(lines) or 1), self._queries)
        return Batch(header, ";".join(entries), end, "\n".join(lines))

    def _add(self, n: int, entry: str, lines: list[str]) -> None:
        following = n + (len(lines) or 1)
        if n > self._read:
            raise RowsGoneError(self._gone(n))
        if following <= self._read:
            return  # before the origin, or put in twice
        self._pieces.append(_Piece(self._read, entry, lines[self._read - n :]))
        self._read = following

    def _gone(self, n: int) -> str:
        """Return what is missing before a row, and what to do."""
        one = n == self._read + 1
        rows, be = (f"row {self._read}", "is") if one else (f"rows {self._read} to {n - 1}", "are")
        return (
            f"{rows} of run {self._run} {be} not in Redis any more, the next there is row {n}: trimmed, "
            "evicted, or lost when Redis came back without its data; this run cannot be completed, begin a "
            "new run: `taxi submit` and `taxi replay` (or `feed`) with another run id"
        )
