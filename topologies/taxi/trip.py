"""Lines of the challenge's files, reduced to what the queries need of a trip, or why they are none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topologies.batches.clock import REJECT
from topologies.taxi.numbers import are_numbers, whole_number

if TYPE_CHECKING:
    from collections.abc import Collection

    from formats.semantics import Semantics

COLUMNS = 17
"""Columns of the challenge's files (no header)."""

DROPOFF, PICKUP = 0, 1
"""Columns of a read line: drop-off and pick-up, seconds since 1970."""

COORDINATES = slice(2, 6)
"""Columns of a read line: longitude and latitude of start and end, degrees, as written in the file."""

MEDALLION, FARE, TIP = 6, 7, 8
"""Columns of a read line, for query 2: the taxi, and amounts as written in the file, maybe no numbers."""

FIRST_S, LAST_S = -62_135_596_800, 253_402_300_799
"""Seconds of the first and last time that can be written, from year 1 to 9999."""

_TRIP_TIME = 4
_MOST_MINUTES = 20_000
_MINUTE = 17  # characters up to the seconds
_SECONDS = {f"{second:02}": second for second in range(60)}


def parse_time(text: str) -> int | None:
    """Return seconds since 1970 of `YYYY-MM-DD HH:MM:SS`, or None when the text is anything else.

    The local time is read as UTC: only differences matter.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    if time.tzinfo is not None or time.isoformat(sep=" ") != text or time.microsecond:
        return None
    return int(time.replace(tzinfo=UTC).timestamp())


class TimeReader:
    """As `parse_time`; most rows share their minute with many others, which is parsed once."""

    def __init__(self) -> None:
        self._minutes: dict[str, int | None] = {}

    def read(self, text: str) -> int | None:
        """Return seconds since 1970, or None when the text is no time."""
        second = _SECONDS.get(text[_MINUTE:])
        if second is None:
            return None
        minute = text[:_MINUTE]
        try:
            minute_s = self._minutes[minute]
        except KeyError:
            if len(self._minutes) >= _MOST_MINUTES:
                self._minutes.clear()
            minute_s = self._minutes[minute] = parse_time(f"{minute}00")
        return None if minute_s is None else minute_s + second


class LineReader:
    """Reads lines of 17 columns.

    Args:
        queries: The queries that need the lines.
        semantics: Their choices.
    """

    def __init__(self, queries: Collection[str], semantics: Semantics) -> None:
        self._read_time = TimeReader().read
        self._with_fares = "2" in queries
        self._computed_pickup = semantics.pickup == "computed"

    def read(self, line: str) -> str:
        """Read one line.

        Distances and sums are not looked at, and the trip time only for a computed pick-up: one that is no
        whole number of 32 bits, or leads out of the years 1 to 9999, leaves the column's.

        Args:
            line: The line, with or without its end.

        Returns:
            The columns above joined by commas, or `!` with why the line is no trip: `columns`,
            `pickup_datetime`, `dropoff_datetime` or `coordinates`.
        """
        fields = line.rstrip("\r\n").split(",")
        if len(fields) != COLUMNS:
            return f"{REJECT}columns"
        pickup_s = self._read_time(fields[2])
        dropoff_s = self._read_time(fields[3])
        if pickup_s is None or dropoff_s is None:
            return f"{REJECT}{'pickup' if pickup_s is None else 'dropoff'}_datetime"
        places = fields[6:10]
        if not are_numbers(places):
            return f"{REJECT}coordinates"
        if self._computed_pickup and (trip_s := whole_number(fields[_TRIP_TIME])) is not None:
            computed_s = dropoff_s - trip_s
            pickup_s = computed_s if FIRST_S <= computed_s <= LAST_S else pickup_s
        if self._with_fares:
            return ",".join((str(dropoff_s), str(pickup_s), *places, fields[0], fields[11], fields[14]))
        return ",".join((str(dropoff_s), str(pickup_s), *places))
