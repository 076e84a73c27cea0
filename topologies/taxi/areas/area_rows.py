"""The challenge's output format for query 2, and the state behind it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.taxi.areas.area_grid import area_name
from topologies.taxi.areas.money import dollars
from topologies.taxi.areas.share_ranking import TOP
from topologies.taxi.challenge import NULL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topologies.taxi.areas.profitability import RankedArea

_VALUES = 4
_REMEMBERED = 1_000  # the best areas stay the same for many rows


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
    columns = [pickup, dropoff, *(",".join(_values(each)) for each in best[:TOP])]
    columns += [NULL] * (nulls * (TOP - len(best)))
    return ",".join(columns)


def area_state(best: Iterable[RankedArea]) -> str:
    """Return the ranks as compact JSON: `[[area, empty taxis, profit, profitability], ...]`, best first.

    The amounts are dollars as in a row, in quotation marks: no reader shall round them.
    """
    return f"[{','.join(map(_rank, best))}]"


@lru_cache(_REMEMBERED)
def _rank(each: RankedArea) -> str:
    area, empty, profit, profitability = _values(each)
    return f'["{area}",{empty},"{profit}","{profitability}"]'


@lru_cache(_REMEMBERED)
def _values(each: RankedArea) -> tuple[str, str, str, str]:
    return area_name(each.area), str(each.empty), dollars(each.half_cents), f"{each.dollars:.6f}"
