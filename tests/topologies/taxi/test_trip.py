"""A line is a trip or has a reason."""

from __future__ import annotations

import pytest

from topologies.taxi.grid import Point
from topologies.taxi.trip import Reject, Trip, parse_line

LINE = (
    "07290D3599E7A0D62097A346EFCC1FB5,E7750A37CAB07D0DFF0AF7E3573AC141,"
    "2013-01-01 00:00:00,2013-01-01 00:02:00,120,0.44,"
    "-73.956528,40.716976,-73.962440,40.715008,CSH,3.50,0.50,0.50,0.00,0.00,4.50"
)


def changed(column: int, text: str) -> str:
    fields = LINE.split(",")
    fields[column] = text
    return ",".join(fields)


def test_a_good_line_is_a_trip() -> None:
    """Times keep their text; coordinates are degrees."""
    assert parse_line(LINE + "\r\n") == Trip(
        pickup="2013-01-01 00:00:00",
        dropoff="2013-01-01 00:02:00",
        dropoff_s=1_356_998_520,
        start=Point(-73.956528, 40.716976),
        end=Point(-73.962440, 40.715008),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "columns"),
        (LINE + ",1", "columns"),
        (LINE.rpartition(",")[0], "columns"),
        (changed(2, ""), "pickup_datetime"),
        (changed(2, "2013-01-01T00:00:00"), "pickup_datetime"),
        (changed(3, "2013-02-30 00:00:00"), "dropoff_datetime"),
        (changed(3, "2013-01-01"), "dropoff_datetime"),
        (changed(3, "2013-01-01 00:02:00.5"), "dropoff_datetime"),
        (changed(3, "2013-01-01 00:02:00+00:00"), "dropoff_datetime"),
        (changed(6, ""), "coordinates"),
        (changed(7, "north"), "coordinates"),
        (changed(8, "nan"), "coordinates"),
        (changed(9, "-inf"), "coordinates"),
    ],
)
def test_a_bad_line_has_its_reason(line: str, reason: str) -> None:
    """Columns are counted first, then times, then coordinates."""
    assert parse_line(line) == Reject(reason)


def test_bad_fares_do_not_matter() -> None:
    """Query 1 needs neither fares nor distances."""
    assert isinstance(parse_line(changed(11, "free")), Trip)
