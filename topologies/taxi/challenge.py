"""The challenge's output format for both queries, and the states behind their answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.taxi.areas.money import dollars
from topologies.taxi.grid import area_name
from topologies.taxi.tops import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.areas.profitability import RankedArea
    from topologies.taxi.window import RouteCount

_NULL = "NULL"
_REMEMBERED = 1_000  # the best areas stay the same for many rows


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


def route_state(top: Iterable[RouteCount]) -> str:
    """Return the ranks as compact JSON: `[[route, count], ...]`, best first."""
    return json.dumps([[entry.route, entry.count] for entry in top], separators=(",", ":"))


@lru_cache(_REMEMBERED)
def area_values(each: RankedArea) -> str:
    """Return the values of a rank: area, empty taxis, median profit and profitability (dollars)."""
    return f"{area_name(each.area)},{each.empty},{dollars(each.half_cents)},{each.dollars:.6f}"


def area_state(best: Iterable[RankedArea]) -> str:
    """Return the ranks as compact JSON: `[[area, empty taxis, profit, profitability], ...]`, best first.

    The amounts are dollars as in a row, in quotation marks: no reader shall round them.
    """
    return f"[{','.join(map(_rank, best))}]"


@lru_cache(_REMEMBERED)
def _rank(each: RankedArea) -> str:
    area, empty, profit, profitability = area_values(each).split(",")
    return f'["{area}",{empty},"{profit}","{profitability}"]'


def time_text(time_s: int) -> str:
    """Return seconds since 1970 as the challenge writes times, `YYYY-MM-DD HH:MM:SS`."""
    return datetime.fromtimestamp(time_s, UTC).isoformat(sep=" ")[:19]
