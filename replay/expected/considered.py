"""From numbered rows to the trips that each query considers; every row that is turned away has a reason.

Two stages turn rows away, as in the topology. The parser drops what is no trip report: `columns`,
`pickup_datetime`, `dropoff_datetime`, `coordinates`, and for query 2 `fares`. The filter drops trips that a
query does not consider: `zero_coordinates`, `outside_grid`, and `time_goes_back` (a drop-off before that of
an earlier trip that passed), which is found later, as it takes the rows' order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
from pyspark.sql.pandas.types import from_arrow_schema

from replay import grid
from replay.expected.query1 import route_number
from replay.expected.raw_trips import NO_TIME, RawTrips, from_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from formats.semantics import Semantics
    from scheduler.base.arrays import BoolArray, IntArray

PARSER_REASONS = ("columns", "pickup_datetime", "dropoff_datetime", "coordinates", "fares")
FILTER_REASONS = ("zero_coordinates", "outside_grid", "time_goes_back")
TIME_GOES_BACK = FILTER_REASONS[-1]
_REASONS = (None, *PARSER_REASONS, *FILTER_REASONS)
#: Amounts beyond this many cents are no money; sums of them would not fit a whole number of 64 bits.
_MOST_CENTS = 2.0**52

#: Columns of judged rows; a reason is null where its query considers the row.
_ARROW = pa.schema(
    [
        ("n", pa.int64()),
        *((name, pa.string()) for name in ("reason1", "detail1", "reason2", "detail2")),
        *((name, pa.int64()) for name in ("dropoff_s", "pickup_s", "route")),
        ("taxi", pa.string()),
        *((name, pa.int64()) for name in ("start", "end", "cents")),
    ]
)
#: The same as Spark has them.
JUDGED_SCHEMA = from_arrow_schema(_ARROW)

_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799
"""Seconds of the first and last time that can be written, from year 1 to 9999."""


def judge_lines(lines: DataFrame, queries: tuple[int, ...], semantics: Semantics) -> DataFrame:
    """Parse and filter numbered lines of 17 columns.

    Args:
        lines: Columns `line` and `text`.
        queries: 1, 2 or both; columns of a query that is not asked for are null.
        semantics: Settings.

    Returns:
        Columns as in `JUDGED_SCHEMA`, in the order of the lines: `n` (the line), by query the reason of a
        reject and the offending text, `dropoff_s` and `pickup_s` (the printed one) in seconds since 1970 of
        the local time read as UTC, for query 1 `route`, for query 2 `taxi`, `start`, `end` and `cents` (fare
        and tip).
    """

    def judge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield judge(from_lines(batch), queries, semantics)

    return lines.mapInArrow(judge_batches, JUDGED_SCHEMA)


def judge(raw: RawTrips, queries: tuple[int, ...], semantics: Semantics) -> pa.RecordBatch:
    """Judge a batch of rows; see `judge_lines`."""
    common = _common_faults(raw)
    columns = {
        "n": pa.array(raw.n),
        "dropoff_s": pa.array(raw.dropoff_s, mask=raw.dropoff_s == NO_TIME),
        "pickup_s": _printed_pickup(raw, semantics),
    }
    if 1 in queries:
        start, end = (grid.cells(*ends) for ends in (raw.ends[:2], raw.ends[2:]))
        faults = _filter(raw, common, start, end)
        columns |= _verdict(raw, faults, 1)
        columns["route"] = pa.array(route_number(start, end), mask=faults > 0)
    if 2 in queries:
        start, end = (
            grid.areas(longitude, latitude, semantics.area_grid)
            for longitude, latitude in (raw.ends[:2], raw.ends[2:])
        )
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is more than the most
            cents = np.rint(raw.fare * 100) + np.rint(raw.tip * 100)
        unpaid = (common == 0) & ~(np.abs(cents) < _MOST_CENTS)
        faults = _filter(raw, np.where(unpaid, _REASONS.index("fares"), common), start, end)
        columns |= _verdict(raw, faults, 2)
        turned_away = faults > 0
        columns["taxi"] = pa.compute.if_else(pa.array(turned_away), pa.scalar(None, pa.string()), raw.taxi)
        columns["start"] = pa.array(start, mask=turned_away)
        columns["end"] = pa.array(end, mask=turned_away)
        columns["cents"] = pa.array(np.where(turned_away, 0, cents).astype(np.int64), mask=turned_away)
    arrays = [columns.get(field.name, pa.nulls(raw.n.size, field.type)) for field in _ARROW]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def _common_faults(raw: RawTrips) -> IntArray:
    """Return per row the number of the first fault that holds for both queries, 0 for none."""
    no_place = np.zeros(raw.n.size, dtype=bool)
    for coordinate in raw.ends:
        no_place |= ~np.isfinite(coordinate)
    return _first_fault(
        (~raw.whole, "columns"),
        (raw.pickup_s == NO_TIME, "pickup_datetime"),
        (raw.dropoff_s == NO_TIME, "dropoff_datetime"),
        (no_place, "coordinates"),
    )


def _filter(raw: RawTrips, faults: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """Add the filter's faults to the parser's."""
    zero = np.zeros(raw.n.size, dtype=bool)
    for coordinate in raw.ends:
        zero |= coordinate == 0.0
    outside = (start == grid.OFF_GRID) | (end == grid.OFF_GRID)
    return np.where(faults > 0, faults, _first_fault((zero, "zero_coordinates"), (outside, "outside_grid")))


def _first_fault(*tests: tuple[BoolArray, str]) -> IntArray:
    numbers = [_REASONS.index(reason) for _, reason in tests]
    return np.select([found for found, _ in tests], numbers, default=0)


def _verdict(raw: RawTrips, faults: IntArray, query: int) -> dict[str, pa.Array]:
    """Return the columns of reasons and offending texts."""
    reasons: list[str | None] = [None] * faults.size
    details: list[str | None] = [None] * faults.size
    for place in np.flatnonzero(faults).tolist():
        reason = _REASONS[faults[place]]
        reasons[place], details[place] = reason, raw.detail(reason or "", place)
    return {
        f"reason{query}": pa.array(reasons, pa.string()),
        f"detail{query}": pa.array(details, pa.string()),
    }


def _printed_pickup(raw: RawTrips, semantics: Semantics) -> pa.Array:
    """Return the pick-up that output rows show; the column where the trip's time leads to none."""
    pickup = raw.pickup_s
    if semantics.pickup == "computed":
        computed = raw.dropoff_s - raw.trip_time_s
        leads_back = (raw.trip_time_s != NO_TIME) & (computed >= _FIRST_S) & (computed <= _LAST_S)
        pickup = np.where(leads_back, computed, pickup)
    return pa.array(pickup, mask=raw.pickup_s == NO_TIME)
