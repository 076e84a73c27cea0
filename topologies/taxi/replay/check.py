"""What a line of the 17 columns holds that replay has to know: its time, and whether it is malformed."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

from topologies.taxi.numbers import are_numbers, may_be_plain
from topologies.taxi.trip import COLUMNS, TimeReader

GOES_BACK = "goes_back"
"""Fault of a row whose drop-off is before that of a row before it."""

DUPLICATE = "duplicate"
"""Fault of a row that is, byte for byte, one of the rows before it with the same drop-off."""

ORDER_FAULTS = (GOES_BACK, DUPLICATE)
"""Faults of well-formed rows: they are counted, and are no rejects."""

_PICKUP, _DROPOFF = 2, 3
_COORDINATES = slice(6, 10)
_FARES = (11, 14)
_TEXT = 10
_CACHED_TIMES = 8_192
_REMEMBERED = 10_000


class Row(NamedTuple):
    """A line and what was found in it.

    Attributes:
        line: The line's bytes, without its end.
        time_s: Drop-off in seconds since 1970, the local time read as UTC; None: not to be read.
        fault: Why it is malformed (`encoding`, `columns`, `pickup_datetime`, `dropoff_datetime`,
            `coordinates`, `fares`, `numbers`), one of `ORDER_FAULTS`, or None.
    """

    line: bytes
    time_s: int | None
    fault: str | None


class Checker:
    """Looks at lines in their order; some memory of the latest instant, and of nothing else."""

    def __init__(self) -> None:
        self._time = lru_cache(_CACHED_TIMES)(TimeReader().read)  # rows of one time come together
        self._clock_s: int | None = None
        self._instant: set[bytes] = set()

    def look_at_all(self, lines: list[bytes]) -> list[Row]:
        """Return lines as rows: what `look` says of each, at a fraction of its cost when nothing is wrong."""
        times_s = self._spotless(lines)
        if times_s is None:
            return [self.look(line) for line in lines]
        return list(map(Row._make, zip(lines, times_s, repeat(None))))

    def look(self, line: bytes) -> Row:
        """Return the line as a row."""
        fault = None
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode(errors="replace")
            fault = "encoding"
        fields = text.split(",")
        if len(fields) != COLUMNS:
            return Row(line, None, fault or "columns")
        time_s = self._time(fields[_DROPOFF])
        if time_s is None:
            return Row(
                line, None, fault or ("pickup_datetime" if self._no_pickup(fields) else "dropoff_datetime")
            )
        fault = fault or ("pickup_datetime" if self._no_pickup(fields) else _no_number(fields))
        return Row(line, time_s, fault or self._out_of_order(line, time_s))

    def _spotless(self, lines: list[bytes]) -> list[int] | None:
        """Return the lines' drop-offs if no line has any fault, and remember them; None: some may have."""
        try:
            text = b"\n".join(lines).decode()
            rows = [line.split(",") for line in text.split("\n")]
            if set(map(len, rows)) != {COLUMNS} or not may_be_plain(text):
                return None
            columns = list(zip(*rows, strict=True))
            numbers = chain.from_iterable((*columns[4:_TEXT], *columns[_TEXT + 1 :]))
            finite = math.isfinite(sum(map(float, numbers)))
        except ValueError:  # no text in UTF-8, or no number
            return None
        times_s = [time_s for time_s in map(self._time, columns[_DROPOFF]) if time_s is not None]
        readable = len(times_s) == len(lines) and None not in map(self._time, columns[_PICKUP])
        return times_s if finite and readable and self._in_order(lines, times_s) else None

    def _in_order(self, lines: list[bytes], times_s: list[int]) -> bool:
        """Return whether all follow in time and none came before, and remember them if so."""
        first_s, last_s = times_s[0], times_s[-1]
        if self._clock_s is not None and first_s < self._clock_s:
            return False
        if sorted(times_s) != times_s or len(set(lines)) < len(lines):
            return False
        if first_s == self._clock_s and not self._instant.isdisjoint(lines):
            return False
        if last_s != self._clock_s:
            self._clock_s = last_s
            self._instant.clear()
        latest = lines[bisect_left(times_s, last_s) :]
        self._instant.update(latest[: _REMEMBERED - len(self._instant)])
        return True

    def _no_pickup(self, fields: list[str]) -> bool:
        return self._time(fields[_PICKUP]) is None

    def _out_of_order(self, line: bytes, time_s: int) -> str | None:
        if self._clock_s is not None and time_s < self._clock_s:
            return GOES_BACK
        if time_s != self._clock_s:
            self._clock_s = time_s
            self._instant.clear()
        elif line in self._instant:
            return DUPLICATE
        if len(self._instant) < _REMEMBERED:  # an instant of a whole file must not fill the memory
            self._instant.add(line)
        return None


def _no_number(fields: list[str]) -> str | None:
    """Return the fault of the first number that is none, or not finite, in the topology's order."""
    if are_numbers((*fields[4:_TEXT], *fields[_TEXT + 1 :])):
        return None
    if not are_numbers(fields[_COORDINATES]):
        return "coordinates"
    return "numbers" if are_numbers([fields[column] for column in _FARES]) else "fares"
