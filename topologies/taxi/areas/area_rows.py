"""The challenge's output format for query 2, and the state behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from topologies.taxi.areas.area_grid import area_name
from topologies.taxi.areas.money import dollars
from topologies.taxi.areas.share_ranking import TOP
from topologies.taxi.challenge import NULL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.areas.profitability import RankedArea

_VALUES = 4


def area_row(pickup: str, dropoff: str, best: Sequence[RankedArea], nulls: int = _VALUES) -> str:
    """Return the row that the challenge wants when the answer changes, without its last column (delay).

    Args:
        pickup: Pick-up time of the trip that caused the change.
        dropoff: Drop-off time of that trip.
        best: Areas, best first; those after the tenth are left out.
        nulls: How many `NULL` stand for a missing area.

    Returns:
        Both times, then area, empty taxis, median profit and profitability (dollars) per rank.
    """
    columns = [pickup, dropoff]
    for each in best[:TOP]:
        columns += map(str, _values(each))
    columns += [NULL] * (nulls * (TOP - len(best)))
    return ",".join(columns)


def area_state(best: Iterable[RankedArea]) -> str:
    """Return the ranks as compact JSON: `[[area, empty taxis, profit, profitability], ...]`, best first."""
    return json.dumps([_values(each) for each in best], separators=(",", ":"))


def _values(each: RankedArea) -> tuple[str, int, str, str]:
    profitability = each.half_cents / (200 * each.empty)
    return area_name(each.area), each.empty, dollars(each.half_cents), f"{profitability:.6f}"
