"""Ranks of query 2 as the challenge writes them, and the state behind its answer."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from topologies.taxi.areas.money import dollars
from topologies.taxi.grid import area_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topologies.taxi.areas.profitability import RankedArea

_REMEMBERED = 1_000  # the best areas stay the same for many rows


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
