"""Reading taxi rows for the plain references, which share nothing with the project."""

from __future__ import annotations

import gzip
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MOST_CENTS = 2**52
EAST_DEGREES = 0.005986
SOUTH_DEGREES = 0.004491556


@dataclass(frozen=True)
class Row:
    """One line that the parser understands."""

    n: int
    medallion: str
    pickup: str
    dropoff: str
    time_s: int
    trip_time: str
    start: tuple[float, float]
    end: tuple[float, float]
    fare: str
    tip: str


def read_lines(path: Path) -> list[str]:
    """Lines of a file, plain or packed."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return file.read().splitlines()
    return path.read_text(encoding="utf-8").splitlines()


def seconds(text: str) -> int | None:
    """Seconds of a time without zone, None for anything else."""
    found = TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups())
    try:
        return int(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp())
    except ValueError:
        return None


def number(text: str) -> float | None:
    """A finite decimal number, None for anything else."""
    if not DECIMAL.fullmatch(text.strip(" \t")):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def cents(fare: str, tip: str) -> int | None:
    """Fare and tip together; None when one is no decimal number, or both are too much to be money."""
    hundredfold = []
    for text in (fare, tip):
        if not DECIMAL.fullmatch(text.strip(" \t")):
            return None
        hundredfold.append(float(text) * 100)
    if not all(map(math.isfinite, hundredfold)):
        return None
    total = sum(map(round, hundredfold))
    return total if -MOST_CENTS < total < MOST_CENTS else None


def read_row(n: int, line: str) -> Row | str:
    """The row, or the reason why there is none."""
    column = line.split(",")
    if len(column) != 17:
        return "columns"
    if seconds(column[2]) is None:
        return "pickup_datetime"
    time_s = seconds(column[3])
    if time_s is None:
        return "dropoff_datetime"
    places = [number(text) for text in column[6:10]]
    if None in places:
        return "coordinates"
    lon, lat, to_lon, to_lat = (float(place or 0.0) for place in places)
    return Row(
        n,
        column[0],
        column[2],
        column[3],
        time_s,
        column[4],
        (lon, lat),
        (to_lon, to_lat),
        column[11],
        column[14],
    )


def square(place: tuple[float, float], size: int, most: int, *, corner: bool = False) -> str | None:
    """The square of a place, `east.south`, None off the grid.

    Args:
        place: Longitude and latitude.
        size: 500 m are cut in so many.
        most: Greatest index.
        corner: Whether square 1.1 begins at the corner of the 500 m cell 1.1; else it is centred.
    """
    half = size / 2 if corner else 0.5
    east = math.floor((place[0] + 74.913585) / (EAST_DEGREES / size) + half) + 1
    south = math.floor((41.474937 - place[1]) / (SOUTH_DEGREES / size) + half) + 1
    return f"{east}.{south}" if 1 <= east <= most and 1 <= south <= most else None


def has_no_fix(row: Row) -> bool:
    """Whether a coordinate is zero."""
    return 0.0 in (*row.start, *row.end)
