"""A batch of trip reports as arrays, whether it comes from lines of 17 columns or from a trips table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.text_columns import numbers, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

COLUMNS = 17
#: What stands for a time or a duration that cannot be read.
NO_TIME = np.iinfo(np.int64).min
#: Columns of a trips table that the queries use.
TABLE_COLUMNS = (
    "n",
    "medallion",
    "pickup_s",
    "dropoff_s",
    "trip_time_in_secs",
    "pickup_longitude",
    "pickup_latitude",
    "dropoff_longitude",
    "dropoff_latitude",
    "fare_amount",
    "tip_amount",
)
_ENDS = TABLE_COLUMNS[5:9]
_LINE_PLACES = {
    "medallion": 0,
    "pickup": 2,
    "dropoff": 3,
    "trip_time": 4,
    **dict(zip(_ENDS, range(6, 10), strict=True)),
    "fare": 11,
    "tip": 14,
}
_LONGEST_DETAIL = 200


@dataclass(frozen=True, eq=False)
class RawTrips:
    """Rows before they are judged.

    Attributes:
        n: (n,) number of the row.
        whole: (n,) whether it has all columns; if not, the others mean nothing.
        taxi: (n,) medallions, no nulls.
        pickup_s: (n,) seconds since 1970, `NO_TIME` if unreadable.
        dropoff_s: (n,) likewise.
        trip_time_s: (n,) duration as reported, `NO_TIME` if unreadable.
        ends: Longitude and latitude of the pick-up, then of the drop-off, each (n,) degrees; NaN if
            unreadable.
        fare: (n,) dollars, NaN if unreadable.
        tip: (n,) likewise.
        detail: Shows why the row at a place was turned away, given the reason.
    """

    n: IntArray
    whole: BoolArray
    taxi: pa.Array
    pickup_s: IntArray
    dropoff_s: IntArray
    trip_time_s: IntArray
    ends: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    fare: FloatArray
    tip: FloatArray
    detail: Callable[[str, int], str]


def from_lines(batch: pa.RecordBatch) -> RawTrips:
    """Parse lines; columns `line` and `text`."""
    text = batch["text"]
    parts = pc.split_pattern(text, ",")
    whole: BoolArray = pc.equal(pc.list_value_length(parts), COLUMNS).to_numpy(zero_copy_only=False)
    flat = parts.filter(pa.array(whole)).flatten()
    rows = np.full(len(text), -1, dtype=np.int64)
    rows[whole] = np.arange(int(whole.sum()))
    fields = {
        name: flat.take(pa.array(np.arange(place, len(flat), COLUMNS)))
        for name, place in _LINE_PLACES.items()
    }

    def amounts(name: str) -> FloatArray:
        values, _ = numbers(fields[name])
        if whole.all():
            return values
        result = np.full(len(text), np.nan)
        result[whole] = values
        return result

    def times(name: str) -> IntArray:
        result = np.full(len(text), NO_TIME, dtype=np.int64)
        values, readable = seconds(fields[name])
        result[whole] = np.where(readable, values, NO_TIME)
        return result

    def detail(reason: str, place: int) -> str:
        if reason == "columns":
            line: str = text[place].as_py()
            return line[:_LONGEST_DETAIL]
        shown = {"pickup_datetime": ["pickup"], "dropoff_datetime": ["dropoff"], "fares": ["fare", "tip"]}
        return ",".join(fields[name][rows[place]].as_py() for name in shown.get(reason, _ENDS))

    return RawTrips(
        n=batch["line"].to_numpy(),
        whole=whole,
        taxi=pc.fill_null(fields["medallion"].take(pa.array(rows, mask=~whole)), ""),
        pickup_s=times("pickup"),
        dropoff_s=times("dropoff"),
        trip_time_s=_whole_numbers(amounts("trip_time")),
        ends=tuple(amounts(name) for name in _ENDS),  # type: ignore[arg-type]  # there are four
        fare=amounts("fare"),
        tip=amounts("tip"),
        detail=detail,
    )


def from_table(batch: pa.RecordBatch) -> RawTrips:
    """Take rows of a trips table; columns as in `TABLE_COLUMNS`."""
    columns = {name: batch[name] for name in TABLE_COLUMNS}
    ends = tuple(_floats(columns[name]) for name in _ENDS)

    def detail(reason: str, place: int) -> str:
        shown = {
            "pickup_datetime": ("pickup_s",),
            "dropoff_datetime": ("dropoff_s",),
            "fares": ("fare_amount", "tip_amount"),
        }
        values = (columns[name][place].as_py() for name in shown.get(reason, _ENDS))
        return ",".join("" if value is None else str(value) for value in values)

    return RawTrips(
        n=columns["n"].to_numpy(),
        whole=np.ones(len(batch), dtype=bool),
        taxi=pc.fill_null(columns["medallion"], ""),
        pickup_s=_whole(columns["pickup_s"]),
        dropoff_s=_whole(columns["dropoff_s"]),
        trip_time_s=_whole(columns["trip_time_in_secs"]),
        ends=ends,  # type: ignore[arg-type]  # there are four
        fare=_floats(columns["fare_amount"]),
        tip=_floats(columns["tip_amount"]),
        detail=detail,
    )


def _floats(column: pa.Array) -> FloatArray:
    values: FloatArray = pc.fill_null(column, np.nan).to_numpy(zero_copy_only=False)
    return values


def _whole(column: pa.Array) -> IntArray:
    values: IntArray = pc.fill_null(column.cast(pa.int64()), NO_TIME).to_numpy(zero_copy_only=False)
    return values


def _whole_numbers(values: FloatArray) -> IntArray:
    """Return whole numbers of 32 bits as such, `NO_TIME` for others."""
    good = (np.abs(values) < 2**31) & (np.floor(values) == values)
    return np.where(good, np.where(good, values, 0).astype(np.int64), NO_TIME)
