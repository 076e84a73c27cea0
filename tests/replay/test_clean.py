"""Which lines are turned away, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

NOON = 1_357_041_600

# (place of the field, its text, reason or None); each line is judged by itself
CASES = [
    (0, "", None),  # an empty medallion does not matter to query 1
    (11, "free", None),  # neither does a fare that is no number
    (2, "", "pickup_datetime"),
    (2, "2013-01-01T12:00:00", "pickup_datetime"),
    (2, "2013-01-01 12:00", "pickup_datetime"),
    (2, "2013-1-01 12:00:00", "pickup_datetime"),
    (2, "0000-01-01 12:00:00", "pickup_datetime"),
    (3, "2013-02-29 12:00:00", "dropoff_datetime"),
    (3, "2013-01-01 24:00:00", "dropoff_datetime"),
    (3, "2013-01-01 12:60:00", "dropoff_datetime"),
    (3, "2013-01-01 12:00:00 ", "dropoff_datetime"),
    (6, "", "coordinates"),
    (6, "nan", "coordinates"),
    (7, "inf", "coordinates"),
    (7, "1e999", "coordinates"),
    (8, "-73.98d", "coordinates"),
    (9, "40,7", "columns"),
    (6, "-7.3981e1", None),
    (6, " -73.981 ", None),
    (6, "0", "zero_coordinates"),
    (9, "-0.000000", "zero_coordinates"),
    (6, "-74.9165781", "outside_grid"),
    (6, "-74.9165779", None),
    (6, "-73.1207781", None),
    (6, "-73.1207779", "outside_grid"),
    (7, "41.4771828", "outside_grid"),
    (7, "41.4771827", None),
    (7, "40.1297160", None),
    (7, "40.1297159", "outside_grid"),
    (9, "95.0", "outside_grid"),
]


def test_each_fault_has_its_reason(spark: SparkSession, line: Callable[..., str]) -> None:
    lines = []
    for number, (place, text, _) in enumerate(CASES, start=1):
        fields = line(NOON + number, (150, 150), (151, 151)).split(",")
        fields[place] = text
        lines.append((number, ",".join(fields)))
    table = spark.createDataFrame(lines, "line bigint, text string")

    rows = clean(spark, table, chunk_rows=4).collect()

    found = {row["line"]: row["reason"] for row in rows}
    assert [(*case[:2], found[n]) for n, case in enumerate(CASES, start=1)] == CASES


def test_an_off_grid_row_does_not_move_the_clock(spark: SparkSession, line: Callable[..., str]) -> None:
    """Row 3 is older than the dropped row 2 but not older than row 1; row 4 goes back behind row 3."""
    lines = [
        (1, line(NOON, (1, 1), (300, 300))),
        (2, line(NOON + 900, (1, 1), (301, 1))),
        (3, line(NOON + 60, (1, 1), (1, 1))),
        (4, line(NOON + 59, (1, 1), (1, 1))),
        (5, line(NOON + 60, (1, 1), (1, 1))),
    ]

    rows = clean(spark, spark.createDataFrame(lines, "line bigint, text string"), chunk_rows=2).collect()

    assert {row["line"]: (row["reason"], row["route"] if row["reason"] is None else "") for row in rows} == {
        1: (None, "1.1-300.300"),
        2: ("outside_grid", ""),
        3: (None, "1.1-1.1"),
        4: ("time_goes_back", ""),
        5: (None, "1.1-1.1"),
    }
