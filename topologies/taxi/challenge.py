"""The challenge's output format for query 1, and the state behind it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from topologies.taxi.ranking import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.window import RouteCount

NULL = "NULL"


def output_row(pickup: str, dropoff: str, answer: Sequence[str], nulls: int = 2) -> str:
    """Return the row that the challenge wants when the answer changes, without its last column (delay).

    Args:
        pickup: Pick-up time of the trip that caused the change.
        dropoff: Drop-off time of that trip.
        answer: At most ten routes (`START-END`), best first.
        nulls: How many `NULL` stand for a missing route.

    Returns:
        Both times, then start and end cell per rank.
    """
    columns = [pickup, dropoff]
    for route in answer:
        columns += route.split("-")
    columns += [NULL] * (nulls * (TOP - len(answer)))
    return ",".join(columns)


def state_json(top: Iterable[RouteCount]) -> str:
    """Return the ranks as compact JSON: `[[route, count], ...]`, best first."""
    return json.dumps([[entry.route, entry.count] for entry in top], separators=(",", ":"))


def time_text(time_s: int) -> str:
    """Return seconds since 1970 as the challenge writes times, `YYYY-MM-DD HH:MM:SS`."""
    return datetime.fromtimestamp(time_s, UTC).isoformat(sep=" ")[:19]
