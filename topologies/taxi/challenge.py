"""The challenge's output format for both queries, and the state behind the answer of query 1."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topologies.taxi.tops import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.window import RouteCount

_NULL = "NULL"


def output_row(pickup_s: int, dropoff_s: int, ranks: Sequence[str], nulls: int) -> str:
    """Return the row that the challenge wants when the answer changes, without its last column (delay).

    Args:
        pickup_s: Pick-up time of the trip that caused the change, seconds since 1970.
        dropoff_s: Drop-off time of that trip, likewise.
        ranks: The values of at most ten ranks, best first, those of a rank joined by commas.
        nulls: How many `NULL` stand for a missing rank.

    Returns:
        Both times, then the values per rank.
    """
    missing = [_NULL] * (nulls * (TOP - len(ranks)))
    return ",".join([time_text(pickup_s), time_text(dropoff_s), *ranks, *missing])


def route_values(each: RouteCount) -> str:
    """Return the values of a rank of query 1: start and end cell."""
    return each.route.replace("-", ",")


def state_json(top: Iterable[RouteCount]) -> str:
    """Return the ranks as compact JSON: `[[route, count], ...]`, best first."""
    return json.dumps([[entry.route, entry.count] for entry in top], separators=(",", ":"))


def time_text(time_s: int) -> str:
    """Return seconds since 1970 as the challenge writes times, `YYYY-MM-DD HH:MM:SS`."""
    return datetime.fromtimestamp(time_s, UTC).isoformat(sep=" ")[:19]
