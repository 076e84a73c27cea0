"""One taxi trip from one CSV line, or the reason why the line is no trip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from topologies.taxi.grid import Point

COLUMNS = 17
"""Columns of the challenge's files (no header)."""

_PICKUP_TIME = 2
_DROPOFF_TIME = 3
_COORDINATES = slice(6, 10)


@dataclass(frozen=True, slots=True)
class Trip:
    """What query 1 needs of a trip report.

    Attributes:
        pickup: Pick-up time as in the file, `YYYY-MM-DD HH:MM:SS`.
        dropoff: Drop-off time as in the file.
        dropoff_s: Drop-off time in seconds since 1970, the local time read as UTC (only differences matter).
        start: Place of the pick-up.
        end: Place of the drop-off.
    """

    pickup: str
    dropoff: str
    dropoff_s: int
    start: Point
    end: Point


@dataclass(frozen=True, slots=True)
class Reject:
    """A line that is no trip; `reason` is a short fixed text by which rejects are counted."""

    reason: str


def parse_line(line: str) -> Trip | Reject:
    """Read one line of the 17-column format.

    Fares, distances and the trip time are not looked at: query 1 does not use them.

    Args:
        line: The line, with or without its end.

    Returns:
        The trip, or why there is none: `columns`, `pickup_datetime`, `dropoff_datetime` or `coordinates`.
    """
    fields = line.rstrip("\r\n").split(",")
    if len(fields) != COLUMNS:
        return Reject("columns")
    if parse_time(fields[_PICKUP_TIME]) is None:
        return Reject("pickup_datetime")
    dropoff_s = parse_time(fields[_DROPOFF_TIME])
    if dropoff_s is None:
        return Reject("dropoff_datetime")
    try:
        numbers = [float(text) for text in fields[_COORDINATES]]
    except ValueError:
        return Reject("coordinates")
    if not all(map(math.isfinite, numbers)):
        return Reject("coordinates")
    return Trip(
        pickup=fields[_PICKUP_TIME],
        dropoff=fields[_DROPOFF_TIME],
        dropoff_s=dropoff_s,
        start=Point(numbers[0], numbers[1]),
        end=Point(numbers[2], numbers[3]),
    )


def parse_time(text: str) -> int | None:
    """Return seconds since 1970 of `YYYY-MM-DD HH:MM:SS`, or None when the text is anything else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    if time.tzinfo is not None or time.isoformat(sep=" ") != text or time.microsecond:
        return None
    return int(time.replace(tzinfo=UTC).timestamp())
