"""Lines to trips: all four layouts, and what is turned away."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from replay.trips.layouts import LAYOUTS
from replay.trips.lines import Block, read_block

DATA = Path(__file__).resolve().parents[3] / "data" / "debs2015"
GOOD = (
    "M,L,2013-01-01 00:00:00,2013-01-01 00:01:00,60,0.44,-73.956528,40.716976,-73.962440,40.715008,"
    "CSH,3.50,0.50,0.50,0.00,0.00,4.50"
)


def read(name: str, layout: str) -> Block:
    with gzip.open(DATA / f"{name}.csv.gz") as stream:
        return read_block(stream.read(), LAYOUTS[layout], first=True)


def block(*lines: str, layout: str = "challenge", first: bool = True) -> Block:
    return read_block("\n".join(lines).encode("utf-8", "surrogateescape"), LAYOUTS[layout], first=first)


@pytest.mark.parametrize(
    ("source", "layout", "derived"),
    [
        ("nyc2013_jan14_subsample_senml_1000", "senml", "nyc2013_jan14_subsample_17col_1000"),
        ("nyc2013_fullrate_rides_100000events", "events", "nyc2013_fullrate_17col_46450"),
    ],
)
def test_other_layouts_give_the_rows_of_the_derived_files(source: str, layout: str, derived: str) -> None:
    """All values of all rows, and the same order."""
    made, expected = read(source, layout), read(derived, "challenge")

    assert not made.rejects
    assert made.trips.num_rows == expected.trips.num_rows
    for name in expected.trips.column_names:
        assert made.trips[name].to_pylist() == expected.trips[name].to_pylist(), name


def test_the_agencys_file_has_a_header_and_no_taxis() -> None:
    made = read("tlc_yellow_2013-01_head947", "agency")

    assert (made.trips.num_rows, made.rejects, made.skipped) == (997, [], {"header": 2})
    assert made.trips["medallion"].null_count == 997
    first = made.trips.slice(0, 1).to_pylist()[0]
    assert (first["trip_time_in_secs"], first["pickup_longitude"], first["fare_amount"]) == (
        382,
        -73.978165,
        6.5,
    )


def test_each_unreadable_line_has_its_reason_and_takes_no_other_with_it() -> None:
    fields = GOOD.split(",")

    def with_text(place: int, text: str) -> str:
        return ",".join([*fields[:place], text, *fields[place + 1 :]])

    cases = [
        (GOOD, None),
        ("", "columns"),
        (GOOD + ",", "columns"),
        ('1358101800000,{"e":[]}', "columns"),
        (with_text(2, "yesterday"), "pickup_datetime"),
        (with_text(3, ""), "dropoff_datetime"),
        (with_text(4, "60.5"), "trip_time_in_secs"),
        (with_text(4, "3000000000"), "trip_time_in_secs"),
        (with_text(6, "nan"), "pickup_longitude"),
        (with_text(9, "40.7d"), "dropoff_latitude"),
        (with_text(11, "free"), "fare_amount"),
        (with_text(11, ""), None),
        (with_text(0, 'a "quoted" é'), None),
        (with_text(10, "\udcff"), None),
        (GOOD, None),
    ]

    found = block(*(line for line, _ in cases))

    expected = [(n, reason, line) for n, (line, reason) in enumerate(cases, start=1) if reason]
    assert found.rejects == expected
    kept = found.trips.to_pylist()
    assert len(kept) == sum(reason is None for _, reason in cases)
    assert kept[1]["fare_amount"] is None
    assert kept[2]["medallion"] == 'a "quoted" é'
    assert kept[3]["payment_type"] == "\ufffd"


def test_readable_lines_alone_are_read_as_beside_unreadable_ones() -> None:
    """A block without a fault goes a shorter way; both ways give the same."""
    with gzip.open(DATA / "debs2015_20day_head10004.csv.gz", "rt") as stream:
        lines = stream.read().splitlines()[:500]

    short, long = block(*lines), block(*lines, lines[0].replace("0.44", "near"))

    assert [reject[0] for reject in long.rejects] == [501]
    assert long.trips.to_pylist() == short.trips.to_pylist()


def test_line_ends_of_other_systems_are_passed_over() -> None:
    assert block(GOOD + "\r", GOOD + "\r").trips.to_pylist() == block(GOOD, GOOD).trips.to_pylist()


def test_events_that_start_a_ride_are_skipped_and_strange_ones_turned_away() -> None:
    end = "65,END,2013-01-01 00:00:36,2013-01-01 00:00:09,-73.99,40.72,-73.99,40.72,1,65,65"
    start = "65,START,2013-01-01 00:00:09,1970-01-01 00:00:00,-73.99,40.72,-73.99,40.72,1,65,65"
    strange = end.replace("END", "PAUSE")

    found = block(start, end, strange, start, layout="events")

    assert (found.trips.num_rows, found.skipped) == (1, {"start": 2})
    assert found.rejects == [(3, "event", strange)]


def test_a_header_counts_as_a_line_and_only_where_a_file_begins() -> None:
    header = str(LAYOUTS["agency"].header)
    broken = "CMT,2013-01-01"

    at_start = block(header, broken, layout="agency")
    behind = block(header, broken, layout="agency", first=False)

    assert at_start.skipped == {"header": 1}
    assert at_start.rejects == [(2, "columns", broken)]
    assert behind.rejects == [(1, "pickup_datetime", header), (2, "columns", broken)]


@pytest.mark.parametrize(
    "line", ["1358101800000", "x,{}", '1358101800000,{"e":[1]}', GOOD, '9e99,{"e":[]}', ""]
)
def test_a_line_that_is_no_senml_is_turned_away(line: str) -> None:
    assert [reject[1:] for reject in block(line + "\n", layout="senml").rejects] == [
        ("senml" if line else "columns", line)
    ]
