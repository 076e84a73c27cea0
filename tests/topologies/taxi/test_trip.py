"""A line is a trip or has a reason, and a trip on the grid passes the sieve."""

from __future__ import annotations

import random

import pytest

from formats.semantics import Semantics
from topologies.taxi.sieve import route_sieve
from topologies.taxi.trip import LineReader, TimeReader, parse_time

LINE = (
    "07290D3599E7A0D62097A346EFCC1FB5,E7750A37CAB07D0DFF0AF7E3573AC141,"
    "2013-01-01 00:00:00,2013-01-01 00:02:00,60,0.44,"
    "-73.956528,40.716976,-73.962440,40.715008,CSH,3.50,0.50,0.50,0.00,0.00,4.50"
)
SECONDS = ("00", "07", "59", "60", "5", "")
PLACES = "-73.956528,40.716976,-73.962440,40.715008"


def changed(column: int, text: str) -> str:
    fields = LINE.split(",")
    fields[column] = text
    return ",".join(fields)


def read(line: str, *queries: str, pickup: str = "column") -> str:
    return LineReader(queries or ("1",), Semantics.of({"pickup": pickup})).read(line)


def test_a_good_line_is_what_the_queries_need() -> None:
    """Times are seconds; coordinates and amounts keep their text; fares are for query 2 only."""
    assert read(LINE + "\r\n") == f"1356998520,1356998400,{PLACES}"
    taxi = LINE.split(",", maxsplit=1)[0]
    assert read(LINE, "1", "2") == f"1356998520,1356998400,{PLACES},{taxi},3.50,0.00"


def test_a_computed_pickup_is_the_trip_time_before_the_dropoff() -> None:
    """Where that is no whole number, the column stays."""
    assert read(LINE, pickup="computed").startswith("1356998520,1356998460,")
    for no_trip_time in ("long", "9" * 15, "-" + "9" * 15):
        assert read(changed(4, no_trip_time), pickup="computed").startswith("1356998520,1356998400,")


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
        (changed(3, "2013-01-01 00:02:60"), "dropoff_datetime"),
        (changed(6, ""), "coordinates"),
        (changed(7, "north"), "coordinates"),
        (changed(8, "nan"), "coordinates"),
        (changed(9, "-inf"), "coordinates"),
    ],
)
def test_a_bad_line_has_its_reason(line: str, reason: str) -> None:
    """Columns are counted first, then times, then coordinates."""
    assert read(line) == f"!{reason}"


def test_bad_fares_do_not_matter() -> None:
    """Query 1 needs neither fares nor distances; query 2 judges them later."""
    assert read(changed(11, "free")) == read(LINE)
    assert "free" in read(changed(11, "free"), "2")


def test_huge_coordinates_are_off_the_grid_but_numbers() -> None:
    """Also when their sum is none."""
    line = changed(6, "1e308").replace("40.716976", "1e308")
    assert read(line).startswith("1356998520,")


def test_times_are_read_as_one_by_one() -> None:
    """Remembered minutes change nothing."""
    chance = random.Random(7)
    reader = TimeReader()
    texts = [
        f"{chance.choice(['2013-01-01', '2013-02-30', '1960-02-29', 'x'])}{chance.choice(' T')}"
        f"{chance.randrange(26):02}:{chance.randrange(62):02}:{chance.choice(SECONDS)}"
        for _ in range(3_000)
    ]
    assert [reader.read(text) for text in texts] == [parse_time(text) for text in texts]
    assert any(parse_time(text) is not None for text in texts)


def test_the_sieve_names_what_does_not_pass() -> None:
    """Rows keep their numbers; a zero comes before the grid; reasons of the parser go through."""
    rows = [
        "!columns",
        f"60,50,{PLACES}",
        "60,50,0.0,40.7,-73.96,40.71",
        "60,50,-73.95,40.71,-70.0,40.71",
        f"90,50,{PLACES}",
    ]
    passing, times = route_sieve().sift(11, [row.split(",") for row in rows])
    assert passing == [f"12,50,{PLACES}", f"15,50,{PLACES}"]
    assert times == ["!columns", "60,50", "!zero_coordinates", "!outside_grid", "90,50"]
