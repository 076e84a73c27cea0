"""The choices on open points, for the plain references."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

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
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def printed_pickup(row: Row, choices: Choices) -> str:
    """The pick-up time to print: the column also where the trip time is no whole number."""
    if choices.pickup == "column" or not re.fullmatch("[0-9]+", row.trip_time):
        return row.pickup
    return printed_time(row.time_s - int(row.trip_time))
