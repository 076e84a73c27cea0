"""Which rows are turned away, and why: the same for lines and for rows of a trips table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from formats.semantics import Semantics
from replay.expected.considered import judge
from replay.expected.query1 import route_name
from replay.expected.raw_trips import TABLE_COLUMNS, from_lines, from_table
from replay.grid import areas, cells, name

if TYPE_CHECKING:
    from collections.abc import Callable

NOON = 1_357_041_600
MIDDLE = (-74.913585 + 149 * 0.005986, 41.474937 - 149 * 0.004491556)

# place of the field, its text, reason for query 1 and for query 2; each line is judged by itself
CASES: list[tuple[int, str, str | None, str | None]] = [
    (0, "", None, None),
    (1, "ÄÖ", None, None),
    (11, "free", None, "fares"),
    (14, "nan", None, "fares"),
    (14, "", None, "fares"),
    (11, "1e99", None, "fares"),
    (11, "1e308", None, "fares"),
    (14, "-1e308", None, "fares"),
    (11, "-3.50", None, None),
    (2, "", "pickup_datetime", "pickup_datetime"),
    (2, "2013-01-01T12:00:00", "pickup_datetime", "pickup_datetime"),
    (2, "2013-01-01 12:00", "pickup_datetime", "pickup_datetime"),
    (2, "2013-1-01 12:00:00", "pickup_datetime", "pickup_datetime"),
    (2, "0000-01-01 12:00:00", "pickup_datetime", "pickup_datetime"),
    (2, "2013-01-01 12:00:é", "pickup_datetime", "pickup_datetime"),
    (3, "2013-02-29 12:00:00", "dropoff_datetime", "dropoff_datetime"),
    (3, "2013-01-01 24:00:00", "dropoff_datetime", "dropoff_datetime"),
    (3, "2013-01-01 12:60:00", "dropoff_datetime", "dropoff_datetime"),
    (3, "2013-01-01 12:00:00 ", "dropoff_datetime", "dropoff_datetime"),
    (3, "2012-02-29 12:00:00", None, None),
    (6, "", "coordinates", "coordinates"),
    (6, "nan", "coordinates", "coordinates"),
    (7, "inf", "coordinates", "coordinates"),
    (7, "1e999", "coordinates", "coordinates"),
    (8, "-73.98d", "coordinates", "coordinates"),
    (9, "40,7", "columns", "columns"),
    (6, "-7.3981e1", None, None),
    (6, " -73.981 ", None, None),
    (6, "0", "zero_coordinates", "zero_coordinates"),
    (9, "-0.000000", "zero_coordinates", "zero_coordinates"),
    # query 1's cells begin half a cell beyond the point, query 2's areas a quarter
    (6, "-74.9165781", "outside_grid", "outside_grid"),
    (6, "-74.9165779", None, "outside_grid"),
    (6, "-74.9150816", None, "outside_grid"),
    (6, "-74.9150814", None, None),
    (6, "-73.1207781", None, None),
    (6, "-73.1207779", "outside_grid", None),
    (6, "-73.1192816", "outside_grid", None),
    (6, "-73.1192814", "outside_grid", "outside_grid"),
    (7, "41.4771828", "outside_grid", "outside_grid"),
    (7, "41.4771827", None, "outside_grid"),
    (7, "41.4760598", None, None),
    (7, "40.1297160", None, None),
    (7, "40.1297159", "outside_grid", None),
    (9, "95.0", "outside_grid", "outside_grid"),
    (6, "-1e308", "outside_grid", "outside_grid"),
]


def judged(lines: list[str], semantics: Semantics | None = None) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pylist([{"line": n, "text": text} for n, text in enumerate(lines, start=1)])
    rows: list[dict[str, Any]] = judge(from_lines(batch), (1, 2), semantics or Semantics()).to_pylist()
    return rows


@pytest.mark.filterwarnings("error")
def test_each_fault_has_its_reason(line: Callable[..., str]) -> None:
    """Without a word of numpy's to the user."""
    lines = []
    for place, text, *_ in CASES:
        fields = line(NOON, (150, 150), (151, 151)).split(",")
        fields[place] = text
        lines.append(",".join(fields))

    rows = judged(lines)

    found = [
        (place, text, row["reason1"], row["reason2"])
        for (place, text, *_), row in zip(CASES, rows, strict=True)
    ]
    assert found == CASES
    for row in rows:
        assert (row["route"] is None) == (row["reason1"] is not None)
        assert (row["start"] is None) == (row["reason2"] is not None)


def test_a_reject_shows_what_is_wrong(line: Callable[..., str]) -> None:
    fields = line(NOON, (150, 150), (151, 151)).split(",")
    columns, fare = ",".join(fields[:-1]), ",".join([*fields[:11], "x", *fields[12:]])
    zero = ",".join([*fields[:6], "0", *fields[7:]])

    rows = judged([columns, fare, zero])

    assert [row["detail2"] for row in rows] == [columns[:200], "x,0.00", ",".join(zero.split(",")[6:10])]
    assert [row["detail1"] for row in rows] == [columns[:200], None, ",".join(zero.split(",")[6:10])]


def test_a_trip_has_its_route_its_areas_and_its_cents(line: Callable[..., str]) -> None:
    """Each amount is rounded for itself, half a cent to even; the middle of a cell is that of an area too."""
    fields = line(NOON, (1, 2), (300, 299), taxi="A1", fare="2.125").split(",")
    fields[14] = "0.375"

    (row,) = judged([",".join(fields)])

    assert route_name(row["route"]) == "1.2-300.299"
    assert (name(row["start"]), name(row["end"])) == ("1.3", "599.597")
    assert (row["taxi"], row["cents"]) == ("A1", 212 + 38)
    assert (row["dropoff_s"], row["pickup_s"]) == (NOON, NOON - 60)


def test_the_areas_of_the_corner_are_the_cells_cut_in_four() -> None:
    seed = 5
    rng = np.random.default_rng(seed)
    longitude, latitude = rng.uniform(-74.92, -73.11, 3000), rng.uniform(40.12, 41.48, 3000)

    big, small = cells(longitude, latitude), areas(longitude, latitude, "corner")

    assert ((big == 0) == (small == 0)).all()
    inside = big > 0
    assert ((small[inside] // 1000 + 1) // 2 == big[inside] // 1000).all()
    assert ((small[inside] % 1000 + 1) // 2 == big[inside] % 1000).all()


@pytest.mark.parametrize(("duration", "shown"), [("90", NOON - 90), ("", NOON - 60), ("1.5", NOON - 60)])
def test_the_printed_pickup_can_be_computed(line: Callable[..., str], duration: str, shown: int) -> None:
    """Where the trip's time is no whole number the column stays."""
    fields = line(NOON, (1, 1), (1, 1)).split(",")
    fields[4] = duration

    (row,) = judged([",".join(fields)], Semantics(pickup="computed"))

    assert row["pickup_s"] == shown


def test_rows_of_a_trips_table_are_judged_likewise() -> None:
    good = dict(zip(TABLE_COLUMNS, (1, "T", NOON - 60, NOON, 60, *MIDDLE, *MIDDLE, 3.5, 1.0), strict=True))
    changes: list[tuple[str, Any, str | None, str | None]] = [
        ("medallion", None, None, None),
        ("pickup_s", None, "pickup_datetime", "pickup_datetime"),
        ("dropoff_s", None, "dropoff_datetime", "dropoff_datetime"),
        ("pickup_latitude", None, "coordinates", "coordinates"),
        ("dropoff_longitude", math.nan, "coordinates", "coordinates"),
        ("fare_amount", None, None, "fares"),
        ("tip_amount", math.inf, None, "fares"),
        ("dropoff_latitude", 0.0, "zero_coordinates", "zero_coordinates"),
        ("pickup_longitude", -80.0, "outside_grid", "outside_grid"),
    ]
    schema = pa.schema(
        [
            (key, {int: pa.int64(), str: pa.string()}.get(type(value), pa.float64()))
            for key, value in good.items()
        ]
    )
    batch = pa.RecordBatch.from_pylist([{**good, key: value} for key, value, *_ in changes], schema)

    rows = judge(from_table(batch), (1, 2), Semantics()).to_pylist()

    assert [(row["reason1"], row["reason2"]) for row in rows] == [(one, two) for *_, one, two in changes]
    assert (rows[0]["cents"], rows[0]["taxi"], name(rows[0]["start"])) == (450, "", "299.299")


def test_only_what_is_asked_for_is_judged(line: Callable[..., str]) -> None:
    text = line(NOON, (1, 1), (1, 1), fare="free")
    batch = pa.RecordBatch.from_pylist([{"line": 1, "text": text}])

    (row,) = judge(from_lines(batch), (1,), Semantics()).to_pylist()

    assert (row["reason2"], row["start"], row["cents"]) == (None, None, None)
    assert row["route"] is not None
