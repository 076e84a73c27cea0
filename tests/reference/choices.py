"""The choices on open points, for the plain references."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.reference.rows import number

if TYPE_CHECKING:
    from tests.reference.rows import Row


@dataclass(frozen=True)
class Choices:
    """The named settings; the first value of each is the default."""

    nulls: str = "per-cell"
    pickup: str = "column"
    area_grid: str = "centred"
    median: str = "exact"
    idle_areas: str = "hidden"
    negative_profit: str = "kept"
    q2_emit: str = "areas"
    profitability: str = "exact"
    equal_counts: str = "freshest-trip"
    expiry: str = "with-rows"


def printed_time(time_s: int) -> str:
    """A time as the rows have it."""
    return datetime.fromtimestamp(time_s, UTC).replace(tzinfo=None).isoformat(sep=" ")


def printed_pickup(row: Row, choices: Choices) -> str:
    """The pick-up time to print: the column also where the trip time is no whole number, or far too long."""
    trip_s = number(row.trip_time)
    if choices.pickup == "column" or trip_s is None or trip_s != int(trip_s) or abs(trip_s) >= 2**31:
        return row.pickup
    try:
        return printed_time(row.time_s - int(trip_s))
    except (ValueError, OverflowError):  # a year that cannot be written
        return row.pickup
